import type { Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import type { StoredKey } from './store.ts'

type KeyAction =
  | 'key.created'
  | 'key.changed'
  | 'key.rotated'
  | 'key.revoked'
  | 'key.deleted'
  | 'key.expiring'
  | 'key.expired'

/** Records the key's id and name, because an event outlives the key. */
export function recordKeyEvent(
  tx: Tx,
  at: Date,
  origin: Origin,
  action: KeyAction,
  key: StoredKey,
  detail: Record<string, unknown> = {},
): Promise<void> {
  return recordEvent(tx, at, origin, {
    action,
    organizationId: key.organization_id,
    subject: `key:${key.id}`,
    detail: { name: key.name, scope: key.scope, ...detail },
  })
}
