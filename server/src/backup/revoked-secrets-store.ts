import type { Db } from '../database/open.ts'
import type { Revocation } from './revocations.ts'

/** Those of a time and later. */
export function readRevokedSecrets(db: Db, since: string): Promise<Revocation[]> {
  return db
    .selectFrom('revoked_secrets')
    .select(['secret_hash as secretHash', 'key_id as keyId', 'at'])
    .where('at', '>=', since)
    .execute()
}
