import type { StoredKey } from './store.ts'

export type KeyStatus = 'active' | 'expired' | 'revoked'

/** A key as shown in lists and responses: never its secret, nor the secret's hash. */
export interface KeyRecord {
  id: string
  name: string
  scope: 'user' | 'organization' | 'platform'
  permissions: string[]
  prefix: string
  status: KeyStatus
  organizationId: string | null
  expiresAt: string | null
  createdAt: string
  rotatedAt: string | null
  revokedAt: string | null
  lastUsedAt: string | null
}

/** The response to a creation. Only this and rotation show the secret. */
export interface CreatedKey {
  id: string
  name: string
  scope: 'user' | 'organization' | 'platform'
  permissions: string[]
  secret: string
  expiresAt: string | null
  createdAt: string
}

export interface RotatedKey {
  id: string
  secret: string
  rotatedAt: string
}

export function keyRecord(row: StoredKey, now: Date): KeyRecord {
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
  }
}

/** Expiry depends on the clock, so it is computed and never stored. */
export function statusOf(row: Pick<StoredKey, 'revoked_at' | 'expires_at'>, now: Date): KeyStatus {
  if (row.revoked_at !== null) return 'revoked'
  return row.expires_at !== null && Date.parse(row.expires_at) <= now.getTime() ? 'expired' : 'active'
}
