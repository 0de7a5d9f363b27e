import type { Db } from '../../base/database/open.ts'

const NAME = 'installation-id'

export async function readInstallationId(db: Db): Promise<string | null> {
  const row = await db
    .selectFrom('installation_secrets')
    .select('value')
    .where('name', '=', NAME)
    .executeTakeFirst()
  return row?.value ?? null
}

/** Sets the database's id unless it has one, and returns the id it has: the first of two nodes decides. */
export async function claimInstallationId(db: Db, id: string): Promise<string> {
  await db
    .insertInto('installation_secrets')
    .values({ name: NAME, value: id })
    .onConflict((row) => row.column('name').doNothing())
    .execute()
  return (await readInstallationId(db))!
}
