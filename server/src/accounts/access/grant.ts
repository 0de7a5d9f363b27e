import type { AddOn } from '@wayleave/contract/add-ons'
import { ADMIN_PERMISSION, type KeyPermission, type KeyScope } from '@wayleave/contract/permissions'
import type { Bucket } from '../../base/limits/limiter.ts'
import { Problem } from '../../base/problem.ts'
import type { AllowedCallers } from './allowed-callers.ts'

/**
 * What a verified key may do, and who pays for its calls.
 *
 * See docs/decisions/session-key-purchases.md.
 */
export interface Grant {
  keyId: string
  /** Tells the two secrets of a key apart that was rotated with an overlap. */
  secretHash: string
  scope: KeyScope
  kind: 'key' | 'session'
  organizationId: string | null
  userId: string | null
  permissions: ReadonlySet<string>
  addOns: ReadonlySet<string>
  /** When the key expires or this secret of it ends, in milliseconds since 1970; null if neither does. */
  expiresAt: number | null
  /** The pages and addresses that may use the key; null if any caller may. */
  allowedCallers: AllowedCallers | null
  /**
   * Identifies whose purchase a download counts as. For a session key this is its user, so that the user's next
   * session key continues with it.
   */
  payer: string
  /** The key's rate limit. All session keys of a user share one: otherwise a new key would have a new limit. */
  bucket: Bucket
  /**
   * The user or organization that owns the key; for a platform key, the key. Daily limits count by it, so that a
   * new key does not add to the allowance.
   */
  owner: string
  /** The rate limit of all keys of the owner together; null if the key has a limit that the operator set. */
  ownerBucket: Bucket | null
}

export function mayUse(grant: Grant, permission: KeyPermission, table: string): boolean {
  return grant.permissions.has(permission) || grant.permissions.has(`${permission}:${table}`)
}

/** The one place that decides whether a key may read or write a dataset. */
export function requirePermission(grant: Grant, permission: KeyPermission, table: string): void {
  if (mayUse(grant, permission, table)) return
  throw new Problem(
    'permission-missing',
    `The API key lacks the permission "${permission}" on the dataset "${table}".`,
  )
}

export function requireAddOn(grant: Grant, addOn: AddOn): void {
  if (grant.scope === 'platform' || grant.addOns.has(addOn)) return
  throw new Problem('add-on-missing', `The organization lacks the add-on ${addOn}.`, { members: { addOn } })
}

/** Only the operator may publish: with a platform key that has `write`. */
export function requirePublisher(grant: Grant, table: string): void {
  if (grant.scope !== 'platform') {
    throw new Problem('permission-missing', 'Publishing needs a platform key with the permission "write".')
  }
  requirePermission(grant, 'write', table)
}

/** The operator's own systems administer with a platform key that has `admin`. */
export function requireAdministration(grant: Grant): void {
  if (grant.scope === 'platform' && grant.permissions.has(ADMIN_PERMISSION)) return
  throw new Problem('permission-missing', 'Administration needs a platform key with the permission "admin".')
}
