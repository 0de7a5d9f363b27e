import type { ControlDatabase, Tx } from '../../database/open.ts'
import { operator, recordEvent } from '../../events/events.ts'
import type { Revocation } from '../revocations/revocations.ts'
import { insertRevokedSecrets } from '../revocations/revoked-secrets-store.ts'

export interface RestoredState {
  /** Keys that were revoked, rotated or deleted after the backup, and are now revoked. */
  revokedKeys: number
  /** Keys that still work after the restore. */
  workingKeys: number
  suspendedKeys: number
}

/**
 * Makes a restored database safe to serve, in one idempotent transaction:
 *
 * - a key whose secret is on the list of revocations is revoked;
 * - sessions, sign-in links and signing keys are deleted, because they may have been ended or replaced since:
 *   users sign in again, and the server makes a new signing key;
 * - leases of the nodes of that time are deleted.
 */
export async function settleRestoredState(
  { db }: ControlDatabase,
  at: Date,
  backup: string,
  revocations: ReadonlyMap<string, Revocation>,
): Promise<RestoredState> {
  const now = at.toISOString()
  return db.transaction().execute(async (tx) => {
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
      const revokedAt = revocations.get(key.secret_hash)!.at
      await tx.updateTable('api_keys').set({ revoked_at: revokedAt }).where('id', '=', key.id).execute()
      await recordEvent(tx, at, operator, {
        action: 'key.revoked',
        organizationId: key.organization_id,
        subject: `key:${key.id}`,
        detail: { reason: 'its secret was revoked after the backup', backup },
      })
    }
    await insertRevokedSecrets(tx, [...revocations.values()])
    const { count } = await workingKeys(tx, now)
      .select(({ fn }) => fn.countAll().as('count'))
      .executeTakeFirstOrThrow()
    await recordEvent(tx, at, operator, {
      action: 'installation.restored',
      organizationId: null,
      subject: 'installation',
      detail: { backup, revokedKeys: dead.length },
    })
    return { revokedKeys: dead.length, workingKeys: Number(count), suspendedKeys: 0 }
  })
}

/** Expires every working key. Its owner can set a later expiry to make it work again. */
export async function suspendKeys({ db }: ControlDatabase, at: Date, backup: string): Promise<number> {
  const now = at.toISOString()
  return db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('api_keys')
      .set({ expires_at: now })
      .where('id', 'in', workingKeys(tx, now).select('id'))
      .executeTakeFirst()
    const suspended = Number(numUpdatedRows)
    await recordEvent(tx, at, operator, {
      action: 'keys.suspended',
      organizationId: null,
      subject: 'installation',
      detail: { backup, keys: suspended },
    })
    return suspended
  })
}

function workingKeys(tx: Tx, now: string) {
  return tx
    .selectFrom('api_keys')
    .where('revoked_at', 'is', null)
    .where((key) => key.or([key('expires_at', 'is', null), key('expires_at', '>', now)]))
}
