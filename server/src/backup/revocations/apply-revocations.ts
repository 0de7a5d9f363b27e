import type { Settle } from '../../database/changes/changes.ts'
import { operator, recordEvent } from '../../events/events.ts'
import type { Revocation } from './revocations.ts'
import { insertRevokedSecrets, listedWorkingKeys, setRevoked } from './revoked-secrets-store.ts'

/**
 * Revokes the working keys whose secret is on the list, and returns how many there were. A secret on the list
 * was revoked, rotated away or deleted once, and never works again: such a key works only because the database
 * was restored to an older state by a program that does not know of the list. Several nodes may do this at
 * once.
 */
export async function applyRevocations(
  { db, commit }: Parameters<Settle>[0],
  at: Date,
  revocations: ReadonlyMap<string, Revocation>,
): Promise<number> {
  if (revocations.size === 0) return 0
  const keys = await listedWorkingKeys(db, revocations)
  if (keys.length === 0) return 0
  return commit(async (tx, changed) => {
    let revoked = 0
    for (const key of keys) {
      if (!(await setRevoked(tx, key.id, revocations.get(key.secretHash)!.at))) continue
      revoked++
      await recordEvent(tx, at, operator, {
        action: 'key.revoked',
        organizationId: key.organizationId,
        subject: `key:${key.id}`,
        detail: { reason: 'its secret is on the list of revocations' },
      })
      changed('key', key.id)
    }
    await insertRevokedSecrets(
      tx,
      keys.map(({ secretHash }) => revocations.get(secretHash)!),
    )
    return revoked
  })
}
