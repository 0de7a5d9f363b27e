import type { Db } from '../../base/database/open.ts'

/** A random value of the installation: created by the first caller, then the same for all nodes. */
export async function installationSecret(db: Db, name: string, make: () => string): Promise<string> {
  const find = () =>
    db.selectFrom('installation_secrets').select('value').where('name', '=', name).executeTakeFirst()
  const existingSecret = await find()
  if (existingSecret) return existingSecret.value
  await db
    .insertInto('installation_secrets')
    .values({ name, value: make() })
    .onConflict((row) => row.column('name').doNothing())
    .execute()
  return (await find())!.value
}
