import type { Db, Tx } from '../../../base/database/open.ts'
import type { Revocation } from './revocations.ts'

const STEP = 500

/** The secrets revoked at or after a time. */
export function readRevokedSecrets(db: Db, since: string): Promise<Revocation[]> {
  return db
    .selectFrom('revoked_secrets')
    .select(['secret_hash as secretHash', 'key_id as keyId', 'at'])
    .where('at', '>=', since)
    .execute()
}

export interface ListedKey {
  id: string
  secretHash: string
  organizationId: string | null
}

/** Keys that are not revoked, although their secret is on the list. */
export async function listedWorkingKeys(
  db: Db,
  revocations: ReadonlyMap<string, Revocation>,
): Promise<ListedKey[]> {
  const hashes = [...revocations.keys()]
  const keys: ListedKey[] = []
  for (let from = 0; from < hashes.length; from += STEP) {
    const rows = await db
      .selectFrom('api_keys')
      .select(['id', 'secret_hash as secretHash', 'organization_id as organizationId'])
      .where('revoked_at', 'is', null)
      .where('secret_hash', 'in', hashes.slice(from, from + STEP))
      .execute()
    keys.push(...rows)
  }
  return keys
}

/** Returns whether the key was not revoked before. */
export async function setRevoked(tx: Tx, keyId: string, at: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('api_keys')
    .set({ revoked_at: at })
    .where('id', '=', keyId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0
}

export async function insertRevokedSecrets(tx: Tx, revocations: Revocation[]): Promise<void> {
  for (let from = 0; from < revocations.length; from += STEP) {
    const rows = revocations
      .slice(from, from + STEP)
      .map(({ secretHash, keyId, at }) => ({ secret_hash: secretHash, key_id: keyId, at }))
    await tx
      .insertInto('revoked_secrets')
      .values(rows)
      .onConflict((row) => row.column('secret_hash').doNothing())
      .execute()
  }
}
