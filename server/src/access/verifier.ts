import type { Clock } from '../clock.ts'
import type { Changes, Subject } from '../database/changes.ts'
import type { Db } from '../database/open.ts'
import type { Rate } from '../limits/limiter.ts'
import type { Grant } from './grant.ts'
import { hashOf, isWellFormed, type SecretFormat } from './secret.ts'
import { findKeyByHash, type KeyRow } from './verifier-store.ts'

const MOST_GRANTS = 50_000
const MOST_UNKNOWN = 50_000

export interface VerifierOptions {
  db: Db
  changes: Changes
  clock: Clock
  format: SecretFormat
  rate: Rate
}

/**
 * Verifies a secret and returns its grant. Checks the form and the checksum first, then looks up the hash in
 * a bounded cache, then in the database; concurrent requests for the same key share one query
 * (single-flight). A cached grant is evicted when the key, its owner or its organization changes, and a grant
 * read before a change is not cached after it.
 */
export class Verifier {
  readonly #options: VerifierOptions
  readonly #grants = new Map<string, Grant>()
  /** A separate cache for unknown keys, so that a flood of invented keys evicts no real ones. */
  readonly #unknown = new Set<string>()
  #loading = new Map<string, Promise<Grant | null>>()
  readonly #lastOn = new WeakMap<object, { secret: string; secretHash: string }>()

  constructor(options: VerifierOptions) {
    this.#options = options
    options.changes.listen((subject, id) => this.#forget(subject, id))
  }

  /** Returns null if the secret is not valid. */
  async verify(secret: string): Promise<Grant | null> {
    if (!isWellFormed(secret, this.#options.format)) return null
    const grant = await this.#find(hashOf(secret))
    return grant && this.#unexpired(grant)
  }

  /** The same, synchronously and from the cache only; null if the secret is not cached. */
  peek(secret: string, connection: object): Grant | null {
    if (!this.#options.changes.trusted()) return null
    const grant = this.#grants.get(this.#hashOn(connection, secret))
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

  async #find(secretHash: string): Promise<Grant | null> {
    // A pending load counts as a cache too: if caches are not trusted, changes since it began are unknown.
    if (!this.#options.changes.trusted()) return this.#read(secretHash)
    const grant = this.#grants.get(secretHash)
    if (grant) return grant
    return this.#unknown.has(secretHash) ? null : this.#load(secretHash)
  }

  #unexpired(grant: Grant): Grant | null {
    return grant.expiresAt === null || grant.expiresAt > this.#options.clock().getTime() ? grant : null
  }

  #load(secretHash: string): Promise<Grant | null> {
    const underWay = this.#loading.get(secretHash)
    if (underWay) return underWay
    const loading = this.#read(secretHash).finally(() => {
      if (this.#loading.get(secretHash) === loading) this.#loading.delete(secretHash)
    })
    this.#loading.set(secretHash, loading)
    return loading
  }

  async #read(secretHash: string): Promise<Grant | null> {
    const { db, changes, rate } = this.#options
    const cacheable = changes.trusted()
    const before = changes.applied
    const row = await findKeyByHash(db, secretHash)
    const grant = row && works(row) ? toGrant(row, rate) : null
    if (cacheable && changes.trusted() && changes.applied === before) {
      if (grant) keep(this.#grants, secretHash, grant)
      else {
        if (this.#unknown.size >= MOST_UNKNOWN) this.#unknown.clear()
        this.#unknown.add(secretHash)
      }
    }
    return grant
  }

  #forget(subject: Subject, id: string): void {
    // A load that began before the change may return the old state, so requests from now on start a new load.
    this.#loading = new Map()
    this.#unknown.clear()
    if (subject === 'everything') this.#grants.clear()
    for (const [secretHash, grant] of this.#grants) {
      if (
        (subject === 'key' && grant.keyId === id) ||
        (subject === 'organization' && grant.organizationId === id) ||
        (subject === 'user' && grant.userId === id)
      ) {
        this.#grants.delete(secretHash)
      }
    }
  }
}

/** A user's key is valid only while its owner belongs to the organization it was created for. */
function works(row: KeyRow): boolean {
  if (row.revoked_at !== null) return false
  return row.scope !== 'user' || row.owner_organization_id === row.organization_id
}

function toGrant(row: KeyRow, standard: Rate): Grant {
  const requests = row.rate ?? standard.requests
  return {
    keyId: row.id,
    scope: row.scope,
    kind: row.kind,
    organizationId: row.organization_id,
    userId: row.user_id,
    permissions: new Set(JSON.parse(row.permissions) as string[]),
    addOns: new Set(row.add_ons),
    expiresAt: row.expires_at === null ? null : Date.parse(row.expires_at),
    rate: { requests, burst: row.burst ?? (row.rate === null ? standard.burst : requests) },
    payer: row.kind === 'session' ? `user:${row.user_id}` : row.id,
  }
}

/** Evicts the oldest entry when the cache is full (FIFO). */
function keep<V>(map: Map<string, V>, name: string, value: V): void {
  if (map.size >= MOST_GRANTS) {
    const oldest = map.keys().next()
    if (!oldest.done) map.delete(oldest.value)
  }
  map.set(name, value)
}
