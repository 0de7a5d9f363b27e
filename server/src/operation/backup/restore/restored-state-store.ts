import type { Tx } from '../../../base/database/open.ts'
import { operator, recordEvent } from '../../../base/events/events.ts'
import type { Revocation } from '../revocations/revocations.ts'
import { insertRevokedSecrets, setRevoked } from '../revocations/revoked-secrets-store.ts'

const RESTORED = 'installation.restored'

export interface RestoredState {
  /** Keys that were revoked, rotated or deleted after the backup, and are now revoked. */
  revokedKeys: number
  /** Keys that still work after the restore. */
  workingKeys: number
  suspendedKeys: number
}

/**
 * Makes a restored database safe to serve, in the transaction that puts it in place:
 *
 * - a key whose secret is on the list of revocations is revoked;
 * - sessions, sign-in links and signing keys are deleted, because they may have been ended or replaced since:
 *   users sign in again, and the server makes a new signing key;
 * - leases of the nodes of that time are deleted.
 */
export async function settleRestoredState(
  tx: Tx,
  at: Date,
  { backup, restoreId }: { backup: string; restoreId: string },
  revocations: ReadonlyMap<string, Revocation>,
): Promise<RestoredState> {
  for (const table of ['refresh_tokens', 'sign_in_links', 'signing_keys', 'nodes'] as const) {
    await tx.deleteFrom(table).execute()
  }
  // The claim of the first signing key must be deleted too, or the server would create none.
  await tx.deleteFrom('installation_secrets').where('name', '=', 'first-signing-key').execute()
  await tx.deleteFrom('api_keys').where('kind', '=', 'session').execute()

  const rows = await tx
    .selectFrom('api_keys')
    .select(['id', 'secret_hash', 'organization_id'])
    .where('revoked_at', 'is', null)
    .execute()
  const dead = rows.filter((row) => revocations.has(row.secret_hash))
  for (const key of dead) {
    await setRevoked(tx, key.id, revocations.get(key.secret_hash)!.at)
    await recordEvent(tx, at, operator, {
      action: 'key.revoked',
      organizationId: key.organization_id,
      subject: `key:${key.id}`,
      detail: { reason: 'its secret was revoked after the backup', backup },
    })
  }
  await insertRevokedSecrets(tx, [...revocations.values()])
  await recordEvent(tx, at, operator, {
    action: RESTORED,
    organizationId: null,
    subject: 'installation',
    detail: { backup, revokedKeys: dead.length, restoreId },
  })
  return readRestoredState(tx, at)
}

/** The state after the last restore. */
export async function readRestoredState(tx: Tx, at: Date): Promise<RestoredState> {
  const { count } = await workingKeys(tx, at.toISOString())
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  const event = await tx
    .selectFrom('events')
    .select('detail')
    .where('action', '=', RESTORED)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  const { revokedKeys = 0 } = JSON.parse(event?.detail ?? '{}') as { revokedKeys?: number }
  return { revokedKeys, workingKeys: Number(count), suspendedKeys: 0 }
}

/** Expires every working key, and returns their ids. The owner can set a later expiry to make a key work again. */
export async function suspendKeys(tx: Tx, at: Date, backup: string): Promise<string[]> {
  const now = at.toISOString()
  const suspended = await tx
    .updateTable('api_keys')
    .set({ expires_at: now })
    .where('id', 'in', workingKeys(tx, now).select('id'))
    .returning('id')
    .execute()
  await recordEvent(tx, at, operator, {
    action: 'keys.suspended',
    organizationId: null,
    subject: 'installation',
    detail: { backup, keys: suspended.length },
  })
  return suspended.map(({ id }) => id)
}

function workingKeys(tx: Tx, now: string) {
  return tx
    .selectFrom('api_keys')
    .where('revoked_at', 'is', null)
    .where((key) => key.or([key('expires_at', 'is', null), key('expires_at', '>', now)]))
}
