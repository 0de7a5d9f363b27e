import type { KeyRecord } from '@wayleave/contract/records'
import type { Db, Tx } from '../../base/database/open.ts'
import { readKeySpending } from './key-spending-store.ts'
import type { StoredKey } from './store.ts'

export async function keyRecords(db: Db | Tx, rows: readonly StoredKey[], now: Date): Promise<KeyRecord[]> {
  const ids = rows.map(({ id }) => id)
  const spending = await readKeySpending(db, ids, now.toISOString().slice(0, 7))
  return rows.map((row) => recordOf(row, spending.get(row.id) ?? 0, now))
}

export async function keyRecord(db: Db | Tx, row: StoredKey, now: Date): Promise<KeyRecord> {
  return (await keyRecords(db, [row], now))[0]!
}

function recordOf(row: StoredKey, creditsUsed: number, now: Date): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    scope: row.scope,
    permissions: JSON.parse(row.permissions) as string[],
    prefix: row.prefix,
    status: statusOf(row, now),
    organizationId: row.organization_id,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    rotatedAt: row.rotated_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    allowedOrigins: listOf(row.allowed_origins),
    allowedAddresses: listOf(row.allowed_addresses),
    creditLimit: row.credit_limit,
    creditsUsed,
    previousSecret: previousSecretOf(row, now),
    test: row.test === 1,
  }
}

function listOf(json: string | null): string[] | null {
  return json === null ? null : (JSON.parse(json) as string[])
}

/** The previous secret while it works. */
function previousSecretOf(row: StoredKey, now: Date): KeyRecord['previousSecret'] {
  const { previous_prefix: prefix, previous_ends_at: endsAt, previous_last_used_at: lastUsedAt } = row
  if (prefix === null || endsAt === null || statusOf(row, now) !== 'active') return null
  return Date.parse(endsAt) > now.getTime() ? { prefix, endsAt, lastUsedAt } : null
}

/** Expiry depends on the clock, so it is computed and never stored. */
export function statusOf(row: Pick<StoredKey, 'revoked_at' | 'expires_at'>, now: Date): KeyRecord['status'] {
  if (row.revoked_at !== null) return 'revoked'
  return row.expires_at !== null && Date.parse(row.expires_at) <= now.getTime() ? 'expired' : 'active'
}
