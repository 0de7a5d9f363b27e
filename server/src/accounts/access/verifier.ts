import type { DatasetAccess } from '@wayleave/contract/visibilities'
import { type CacheLookups, CoherentCache } from '../../base/caching/coherent-cache.ts'
import type { Clock } from '../../base/clock.ts'
import type { Changes, Subject } from '../../base/database/changes/changes.ts'
import type { Db } from '../../base/database/open.ts'
import type { Acting } from '../../base/events/events.ts'
import type { Rate } from '../../base/limits/limiter.ts'
import { AllowedCallers } from './allowed-callers.ts'
import { type DatasetGrant, type Grant, sessionPayer } from './grant.ts'
import { findMemberBudget } from './member-budget-store.ts'
import { readPlanLimits, type SetPlanLimits } from './plan-limits-store.ts'
import { hashOf, isWellFormed, type SecretFormat } from './secret.ts'
import {
  type DatasetGrantRow,
  findKeyByHash,
  findSignedInUser,
  type KeyRow,
  readDatasetGrants,
} from './verifier-store.ts'

const MAX_GRANTS = 50_000
/** Keys that do not exist, so that a client that repeats one costs no query. */
const MAX_UNKNOWN = 50_000

export interface VerifierOptions {
  db: Db
  changes: Changes
  clock: Clock
  format: SecretFormat
  rate: Rate
  /** The rate limit of all keys of one user or organization together. */
  ownerRate: Rate
  /** The mail addresses of platform administrators. */
  administrators: ReadonlySet<string>
}

/**
 * Verifies a secret and returns its grant. Checks the form and the checksum first, then looks up the hash in
 * the cache of grants, then in the database. A grant is evicted when the key, its owner or its organization
 * changes.
 */
export class Verifier {
  readonly #options: VerifierOptions
  /** By the hash of the secret. */
  readonly #grants: CoherentCache<Grant>
  readonly #lastOn = new WeakMap<object, { secret: string; secretHash: string }>()

  constructor(options: VerifierOptions) {
    const { db, changes } = options
    this.#options = options
    this.#grants = new CoherentCache({
      changes,
      read: async (secretHash) => this.#grantOf(await findKeyByHash(db, secretHash), secretHash),
      isStale,
      maxEntries: MAX_GRANTS,
      maxAbsent: MAX_UNKNOWN,
    })
  }

  /** How often the grant of a key was in memory. */
  get lookups(): CacheLookups {
    return this.#grants.lookups
  }

  /** Returns null if the secret is not valid. */
  async verify(secret: string): Promise<Grant | null> {
    if (!isWellFormed(secret, this.#options.format)) return null
    const grant = await this.#grants.get(hashOf(secret))
    return grant && this.#unexpired(grant)
  }

  /**
   * What a signed-in user may know of, without a key; null if they may know no more than others. It is read each
   * time, because programs that read data use keys.
   */
  async ofUser(acting: Acting): Promise<Grant | null> {
    return this.#grantOf(await findSignedInUser(this.#options.db, acting), '')
  }

  /** Undefined for a text that cannot be a secret. */
  hashIfWellFormed(secret: string): string | undefined {
    return isWellFormed(secret, this.#options.format) ? hashOf(secret) : undefined
  }

  /** The same, synchronously and from the cache only; null if the secret is not cached. */
  peek(secret: string, connection: object): Grant | null {
    const grant = this.#grants.peek(this.#hashOn(connection, secret))
    return grant === undefined ? null : this.#unexpired(grant)
  }

  /**
   * Caches the hash of the last secret of each connection, because a connection usually sends the same key
   * again. Comparing a secret with an earlier one of the same connection leaks nothing about other clients'
   * keys.
   */
  #hashOn(connection: object, secret: string): string {
    const last = this.#lastOn.get(connection)
    if (last?.secret === secret) return last.secretHash
    const secretHash = hashOf(secret)
    this.#lastOn.set(connection, { secret, secretHash })
    return secretHash
  }

  async #grantOf(row: KeyRow | undefined, secretHash: string): Promise<Grant | null> {
    if (row === undefined || !works(row)) return null
    return toGrant(row, secretHash, await this.#organizationRights(row), this.#options)
  }

  async #organizationRights({ organization_id: id, user_id }: KeyRow): Promise<OrganizationRights> {
    const { db } = this.#options
    if (id === null) return { granted: [], limits: {}, memberCreditLimit: null }
    return {
      granted: await readDatasetGrants(db, id),
      limits: await readPlanLimits(db, id),
      memberCreditLimit: user_id === null ? null : await findMemberBudget(db, id, user_id),
    }
  }

  #unexpired(grant: Grant): Grant | null {
    return grant.expiresAt === null || grant.expiresAt > this.#options.clock().getTime() ? grant : null
  }
}

/** What a grant depends on besides its key. */
interface OrganizationRights {
  granted: readonly DatasetGrantRow[]
  limits: SetPlanLimits
  memberCreditLimit: number | null
}

function isStale(grant: Grant, _secretHash: string, subject: Subject, id: string): boolean {
  return (
    (subject === 'key' && grant.keyId === id) ||
    (subject === 'organization' && grant.organizationId === id) ||
    (subject === 'user' && grant.userId === id)
  )
}

/**
 * A key is valid only while its organization is neither suspended nor closed; a user's key only while its owner is
 * not blocked and belongs to the organization it was created for.
 */
function works(row: KeyRow): boolean {
  if (row.revoked_at !== null || row.owner_blocked_at !== null) return false
  if (row.suspended_at !== null || row.closed_at !== null) return false
  return row.scope !== 'user' || row.owner_organization_id === row.organization_id
}

function toGrant(
  row: KeyRow,
  secretHash: string,
  { granted, limits, memberCreditLimit }: OrganizationRights,
  options: VerifierOptions,
): Grant {
  const { administrators } = options
  const standard = planRate(limits) ?? options.rate
  const ownerRate = planRate(limits) ?? options.ownerRate
  const requests = row.rate ?? standard.requests
  const owner = ownerOf(row)
  const isSession = row.kind === 'session'
  return {
    keyId: row.id,
    secretHash,
    scope: row.scope,
    kind: row.kind,
    organizationId: row.organization_id,
    userId: row.user_id,
    permissions: new Set(JSON.parse(row.permissions) as string[]),
    isTest: row.test === 1,
    addOns: new Set(row.test === 1 ? [] : row.add_ons),
    datasetGrants: new Map(granted.map((each) => [each.table_name, datasetGrantOf(each)])),
    // The personal keys of an administrator, which others may hold, open no more than those of other users.
    seesHidden: row.scope === 'platform' || (isSession && administrators.has(row.owner_email ?? '')),
    publishes: mayPublish(row),
    expiresAt: earlier(row.expires_at, row.secret_ends_at),
    allowedCallers: allowedCallersOf(row),
    creditLimit: row.credit_limit,
    memberCreditLimit,
    dailyFeatures: limits.featuresPerDay ?? null,
    payer: isSession ? sessionPayer(row.user_id!, row.organization_id) : row.id,
    bucket: {
      name: isSession ? `key:user:${row.user_id}` : `key:${row.id}`,
      rate: { requests, burst: row.burst ?? (row.rate === null ? standard.burst : requests) },
    },
    owner,
    // The operator gave such a key an allowance of its own, and is the only one who can create another.
    ownerBucket:
      row.rate !== null || row.scope === 'platform' ? null : { name: `owner:${owner}`, rate: ownerRate },
  }
}

/** The rate limit of a plan holds for each key and for all keys of one owner together. */
function planRate({ requestsPerMinute }: SetPlanLimits): Rate | null {
  return requestsPerMinute === undefined ? null : { requests: requestsPerMinute, burst: requestsPerMinute }
}

function earlier(...times: (string | null)[]): number | null {
  const set = times.filter((time) => time !== null).map((time) => Date.parse(time))
  return set.length === 0 ? null : Math.min(...set)
}

function allowedCallersOf({ allowed_origins: origins, allowed_addresses: addresses }: KeyRow) {
  if (origins === null && addresses === null) return null
  const listOf = (json: string | null) => (json === null ? null : (JSON.parse(json) as string[]))
  return new AllowedCallers(listOf(origins), listOf(addresses))
}

function ownerOf({ scope, id, user_id, organization_id }: KeyRow): string {
  if (scope === 'platform') return id
  return scope === 'user' ? `user:${user_id}` : `organization:${organization_id}`
}

/** A user's key needs the permission of its owner; who makes or rotates one of a publishing organization needs it then. */
function mayPublish({ scope, publishing, owner_permissions }: KeyRow): boolean {
  if (publishing !== 1) return false
  return scope !== 'user' || (JSON.parse(owner_permissions ?? '[]') as string[]).includes('DATASET_PUBLISH')
}

function datasetGrantOf({ access, credits, expires_at }: DatasetGrantRow): DatasetGrant {
  return {
    expiresAt: expires_at === null ? null : Date.parse(expires_at),
    access: access === null ? null : new Set(JSON.parse(access) as DatasetAccess[]),
    credits,
  }
}
