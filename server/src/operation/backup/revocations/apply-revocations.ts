import type { Changed, Settle } from '../../../base/database/changes/changes.ts'
import type { Tx } from '../../../base/database/open.ts'
import { operator, recordEvent } from '../../../base/events/events.ts'
import type { Revocation } from './revocations.ts'
import {
  insertRevokedSecrets,
  type ListedKey,
  listedWorkingKeys,
  setRevoked,
} from './revoked-secrets-store.ts'

/** Keys in a transaction. All at once could be more parameters than a statement may have. */
const STEP = 500

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
  const keys = await listedWorkingKeys(db, revocations)
  let revoked = 0
  for (let from = 0; from < keys.length; from += STEP) {
    const step = keys.slice(from, from + STEP)
    revoked += await commit((tx, changed) => revokeListed(tx, changed, at, step, revocations))
  }
  return revoked
}

async function revokeListed(
  tx: Tx,
  changed: Changed,
  at: Date,
  keys: ListedKey[],
  revocations: ReadonlyMap<string, Revocation>,
): Promise<number> {
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
}
