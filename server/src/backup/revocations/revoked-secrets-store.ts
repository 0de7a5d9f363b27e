import type { Db } from '../../database/open.ts'
import type { Revocation } from './revocations.ts'

/** The secrets revoked at or after a time. */
export function readRevokedSecrets(db: Db, since: string): Promise<Revocation[]> {
  return db
    .selectFrom('revoked_secrets')
    .select(['secret_hash as secretHash', 'key_id as keyId', 'at'])
    .where('at', '>=', since)
    .execute()
}
