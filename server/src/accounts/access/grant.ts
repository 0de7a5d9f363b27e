import type { AddOn } from '@wayleave/contract/add-ons'
import { ADMIN_PERMISSION, type KeyPermission, type KeyScope } from '@wayleave/contract/permissions'
import type { DatasetAccess } from '@wayleave/contract/visibilities'
import type { Bucket } from '../../base/limits/limiter.ts'
import { Problem } from '../../base/problem.ts'
import type { AllowedCallers } from './allowed-callers.ts'

/** The right of an organization to one dataset, beyond its add-ons. */
export interface DatasetGrant {
  /** Milliseconds since 1970; null for a grant that does not expire. */
  expiresAt: number | null
  /** What the grant is limited to; null for everything. */
  access: ReadonlySet<DatasetAccess> | null
  /** The price of one download; null for that of the dataset. */
  credits: number | null
}

/**
 * What a verified key may do, and who pays for its calls.
 *
 * See docs/decisions/session-key-purchases.md.
 */
export interface Grant {
  keyId: string
  /** Tells the two secrets of a key apart that was rotated with an overlap. */
  secretHash: string
  /** `anonymous` for a request without a key, which gets open datasets only. */
  scope: KeyScope | 'anonymous'
  kind: 'key' | 'session'
  organizationId: string | null
  userId: string | null
  permissions: ReadonlySet<string>
  /** Whether the key gets samples only. */
  isTest: boolean
  addOns: ReadonlySet<string>
  /** The organization's grants on single datasets, by table; also those that have expired. */
  datasetGrants: ReadonlyMap<string, DatasetGrant>
  /** Whether private datasets and drafts exist for it: a platform key, or a session key of an administrator. */
  seesHidden: boolean
  /** Whether it may publish for its organization: the operator allows it, and its user has DATASET_PUBLISH. */
  publishes: boolean
  /** When the key expires or this secret of it ends, in milliseconds since 1970; null if neither does. */
  expiresAt: number | null
  /** The pages and addresses that may use the key; null if any caller may. */
  allowedCallers: AllowedCallers | null
  /** Credits that the key may spend in a month; null: no limit. */
  creditLimit: number | null
  /** Credits that its user may spend in a month with all personal keys and in the console; null: no limit. */
  memberCreditLimit: number | null
  /** Features that the owner may page through in a day, as the organization's plan says; null: as the settings say. */
  dailyFeatures: number | null
  /**
   * Identifies whose purchase a download counts as. For a session key this is its user in the organization that pays,
   * so that the user's next session key continues with it.
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

const READ: ReadonlySet<string> = new Set(['read'])
const NO_ADD_ONS: ReadonlySet<string> = new Set()
const NO_DATASET_GRANTS: ReadonlyMap<string, DatasetGrant> = new Map()

/** The grant of requests without a key from a network address, which is limited instead of a key. */
export function anonymousGrant(owner: string, bucket: Bucket): Grant {
  return {
    keyId: 'anonymous',
    secretHash: '',
    scope: 'anonymous',
    kind: 'key',
    organizationId: null,
    userId: null,
    permissions: READ,
    isTest: false,
    addOns: NO_ADD_ONS,
    datasetGrants: NO_DATASET_GRANTS,
    seesHidden: false,
    publishes: false,
    expiresAt: null,
    allowedCallers: null,
    creditLimit: null,
    memberCreditLimit: null,
    dailyFeatures: null,
    payer: owner,
    bucket,
    owner,
    ownerBucket: null,
  }
}

/** The payer of what a user downloads in the console. */
export function sessionPayer(userId: string, organizationId: string | null): string {
  return `user:${userId}@${organizationId}`
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

/** A test key shows that an integration works, and costs nothing. */
export function requireNoTest({ isTest }: Grant): void {
  if (!isTest) return
  throw new Problem(
    'test-key',
    'A test key gets metadata and samples only, such as /v1/dataset/<table>/sample/json.',
  )
}

export function requireAddOn(grant: Grant, addOn: AddOn): void {
  if (grant.scope === 'platform' || grant.addOns.has(addOn)) return
  requireNoTest(grant)
  throw new Problem('add-on-missing', `The organization lacks the add-on ${addOn}.`, { members: { addOn } })
}

/** The operator's own systems administer with a platform key that has `admin`. */
export function mayAdminister({ scope, permissions }: Grant): boolean {
  return scope === 'platform' && permissions.has(ADMIN_PERMISSION)
}

export function requireAdministration(grant: Grant): void {
  if (mayAdminister(grant)) return
  throw new Problem('permission-missing', 'Administration needs a platform key with the permission "admin".')
}
