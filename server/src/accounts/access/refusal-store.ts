import type { Db } from '../../base/database/open.ts'

/** The key that had this secret before it was rotated away or the key was deleted. */
export async function findFormerKey(db: Db, secretHash: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('revoked_secrets')
    .select('key_id')
    .where('secret_hash', '=', secretHash)
    .executeTakeFirst()
  return row?.key_id
}
