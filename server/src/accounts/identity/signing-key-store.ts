import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type SigningKeyRow = Selectable<Tables['signing_keys']>

/** Newest first. */
export function readSigningKeys(db: Db): Promise<SigningKeyRow[]> {
  return db.selectFrom('signing_keys').selectAll().orderBy('created_at', 'desc').orderBy('kid').execute()
}

/**
 * False if another node was first: both insert the same row, in this transaction, and the conflict decides.
 */
export async function insertFirstSigningKey(tx: Tx, row: SigningKeyRow): Promise<boolean> {
  const claimed = await tx
    .insertInto('installation_secrets')
    .values({ name: 'first-signing-key', value: row.kid })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('name')
    .executeTakeFirst()
  if (!claimed) return false
  await tx.insertInto('signing_keys').values(row).execute()
  return true
}

export async function replaceSigningKey(tx: Tx, row: SigningKeyRow, forgetBefore: string): Promise<void> {
  await tx
    .updateTable('signing_keys')
    .set({ private_jwk: '', retired_at: row.created_at })
    .where('retired_at', 'is', null)
    .execute()
  await tx.deleteFrom('signing_keys').where('retired_at', '<', forgetBefore).execute()
  await tx.insertInto('signing_keys').values(row).execute()
}

export async function replacePrivateKey(db: Db, kid: string, privateJwk: string): Promise<void> {
  await db
    .updateTable('signing_keys')
    .set({ private_jwk: privateJwk })
    .where('kid', '=', kid)
    .where('retired_at', 'is', null)
    .execute()
}
