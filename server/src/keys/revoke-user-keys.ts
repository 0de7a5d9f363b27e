import type { ControlDatabase, Tx } from '../database/open.ts'
import type { Origin } from '../events/events.ts'
import { recordKeyEvent } from './key-event.ts'
import { deleteSessionKeys, lockWorkingUserKeys, recordRevokedSecret, updateKey } from './store.ts'

/**
 * For the transaction in which a user leaves an organization: revokes the user's keys of this organization.
 * The caller must report `changed('user', userId)` in that transaction.
 */
export async function revokeUserKeys(
  database: ControlDatabase,
  tx: Tx,
  at: Date,
  origin: Origin,
  { userId, organizationId }: { userId: string; organizationId: string },
): Promise<void> {
  for (const key of await lockWorkingUserKeys(database, tx, userId, organizationId)) {
    await recordRevokedSecret(tx, key, at)
    await updateKey(tx, key.id, { revoked_at: at.toISOString() })
    await recordKeyEvent(tx, at, origin, 'key.revoked', key, { reason: 'the user left the organization' })
  }
  await deleteSessionKeys(tx, userId)
}
