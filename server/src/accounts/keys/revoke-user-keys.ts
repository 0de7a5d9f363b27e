import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import type { Acting, Origin } from '../../base/events/events.ts'
import { recordKeyEvent } from './key-event.ts'
import {
  deleteSessionKeys,
  deleteSessionPurchases,
  lockWorkingOrganizationKeys,
  lockWorkingUserKeys,
  recordRevokedSecret,
  type StoredKey,
  updateKey,
} from './store.ts'

/**
 * For the transaction in which a user leaves an organization: revokes the user's keys of this organization, and
 * ends the right to download again what the user's session keys have bought with its credits.
 * The caller must report `changed('user', userId)` in that transaction. See docs/decisions/session-key-purchases.md.
 */
export async function revokeUserKeys(
  database: ControlDatabase,
  tx: Tx,
  at: Date,
  origin: Origin,
  acting: Acting & { organizationId: string },
  reason = 'the user left the organization',
): Promise<void> {
  const { userId, organizationId } = acting
  await revokeAll(tx, at, origin, await lockWorkingUserKeys(database, tx, acting), reason)
  await deleteSessionKeys(tx, userId, organizationId)
  await deleteSessionPurchases(tx, userId, organizationId)
}

/** The caller must report `changed('organization', organizationId)` in the same transaction. */
export async function revokeOrganizationKeys(
  database: ControlDatabase,
  tx: Tx,
  at: Date,
  origin: Origin,
  organizationId: string,
): Promise<void> {
  const keys = await lockWorkingOrganizationKeys(database, tx, organizationId)
  await revokeAll(tx, at, origin, keys, 'the organization was closed')
}

async function revokeAll(tx: Tx, at: Date, origin: Origin, keys: StoredKey[], reason: string): Promise<void> {
  for (const key of keys) await revokeIn(tx, at, origin, key, { reason })
}

/** The caller must report the change in the same transaction. */
export async function revokeIn(
  tx: Tx,
  at: Date,
  origin: Origin,
  key: StoredKey,
  detail: { reason?: string } = {},
): Promise<void> {
  await recordRevokedSecret(tx, key, at)
  await updateKey(tx, key.id, { revoked_at: at.toISOString() })
  await recordKeyEvent(tx, at, origin, 'key.revoked', key, detail)
}
