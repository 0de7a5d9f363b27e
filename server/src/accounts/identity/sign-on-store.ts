import type { Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

type IdentityRow = Tables['sign_on_identities']

/** The identities that are this one, or another one of the same user at the same provider. */
export function findSignOnIdentities(
  db: Db,
  { issuer, subject, user_id }: Omit<IdentityRow, 'created_at'>,
): Promise<IdentityRow[]> {
  return db
    .selectFrom('sign_on_identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where((row) => row.or([row('subject', '=', subject), row('user_id', '=', user_id)]))
    .execute()
}

export async function insertSignOnIdentity(tx: Tx, row: IdentityRow): Promise<void> {
  await tx.insertInto('sign_on_identities').values(row).execute()
}
