import type { Db, Tx } from '../../base/database/open.ts'

/**
 * The organization that a table name belongs to: that of the dataset or, before its first run, that of the source. Null
 * for the operator; undefined if the name is free.
 */
export async function readNameOwner(db: Db | Tx, table: string): Promise<string | null | undefined> {
  const dataset = await db
    .selectFrom('datasets')
    .select('owner_id')
    .where('table_name', '=', table)
    .executeTakeFirst()
  if (dataset) return dataset.owner_id
  const source = await db
    .selectFrom('sources')
    .select('owner_id')
    .where('table_name', '=', table)
    .executeTakeFirst()
  return source?.owner_id
}
