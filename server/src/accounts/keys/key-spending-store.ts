import type { Db, Tx } from '../../base/database/open.ts'

/** Credits that each of the keys has spent in a month (UTC), such as 2026-11; keys that spent none are missing. */
export async function readKeySpending(
  db: Db | Tx,
  keyIds: readonly string[],
  month: string,
): Promise<Map<string, number>> {
  const spending = new Map<string, number>()
  for (let from = 0; from < keyIds.length; from += 500) {
    const rows = await db
      .selectFrom('usage')
      .select(({ fn }) => ['key_id', fn.sum<number | string>('credits').as('credits')])
      .where('key_id', 'in', keyIds.slice(from, from + 500))
      .where('date', '>=', `${month}-01`)
      .where('date', '<=', `${month}-31`)
      .groupBy('key_id')
      .execute()
    for (const { key_id, credits } of rows) spending.set(key_id, Number(credits))
  }
  return spending
}
