import type { FoundKey } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/open.ts'
import type { Origin } from '../../base/events/events.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { findFormerKey } from '../access/refusal-store.ts'
import {
  hashOf,
  isWellFormed,
  prefixOf,
  type SecretFormat,
  SHOWN_LENGTH,
  testFormat,
} from '../access/secret.ts'
import { statusOf } from '../keys/key-record.ts'
import type { Keys } from '../keys/keys.ts'
import { findKey, findKeysBy, type StoredKey } from '../keys/store.ts'
import { findOrganization } from '../organizations/store.ts'
import { findUser } from '../users/user-store.ts'

const MAX_FOUND = 50

export interface KeyFinderOptions {
  db: Db
  clock: Clock
  format: SecretFormat
  keys: Keys
}

/** Finds keys by a leaked secret, or by the part of it that is known. */
export class KeyFinder {
  readonly #options: KeyFinderOptions

  constructor(options: KeyFinderOptions) {
    this.#options = options
  }

  /** `text` is a secret, or at least as much of it as lists show. It is neither stored nor logged. */
  async find(text: string): Promise<FoundKey[]> {
    const { db, clock, format } = this.#options
    const secret = text.trim()
    if (isWellFormed(secret, format)) {
      const [key] = await findKeysBy(db, { secretHash: hashOf(secret) }, clock(), 1)
      if (key) return [await this.#describe(key)]
      const keyId = await findFormerKey(db, hashOf(secret))
      return keyId === undefined ? [] : [await this.#describeFormer(keyId)]
    }
    const prefix = prefixOf(secret)
    const heads = [format, testFormat(format)].map(({ literal, env }) => `${literal}_${env}_`)
    if (!heads.some((head) => prefix.startsWith(head) && prefix.length === head.length + SHOWN_LENGTH)) {
      throw invalidInput(
        'secret',
        `must be a secret or at least its first ${heads[0]!.length + SHOWN_LENGTH} characters, which begin with ${heads.join(' or ')}`,
      )
    }
    const keys = await findKeysBy(db, { prefix }, clock(), MAX_FOUND)
    return Promise.all(keys.map((key) => this.#describe(key)))
  }

  /** Finds and revokes in one step. Refused if several keys have the prefix. */
  async revoke(origin: Origin, text: string): Promise<FoundKey[]> {
    const keys = await this.find(text)
    const [key, another] = keys
    if (!key) throw notFound('such key')
    if (another) {
      throw new Problem(
        'conflict',
        `${keys.length} keys begin with this: ${keys.map(({ id }) => id).join(', ')}. Revoke the right one by its id.`,
      )
    }
    // The old secret of a rotated key is refused already, and the key itself has not leaked. One that still works
    // beside the new one is ended with the key.
    if (key.state === 'active' || key.state === 'expired') {
      await this.#options.keys.revoke({ reach: 'any', origin }, key.id)
    }
    return this.find(text)
  }

  async #describe(key: StoredKey, state: FoundKey['state'] = statusOf(key, this.#options.clock())) {
    const { db } = this.#options
    const { user_id: userId, organization_id: organizationId } = key
    const user = userId === null ? undefined : await findUser(db, userId)
    const organization = organizationId === null ? undefined : await findOrganization(db, organizationId)
    return {
      id: key.id,
      name: key.name,
      scope: key.scope,
      prefix: key.prefix,
      state,
      userId,
      userEmail: user?.email ?? null,
      organizationId,
      organizationName: organization?.name ?? null,
      createdAt: key.created_at,
      lastUsedAt: key.last_used_at,
    }
  }

  async #describeFormer(id: string): Promise<FoundKey> {
    const key = await findKey(this.#options.db, id)
    if (key) return this.#describe(key, 'replaced')
    const nothing = { name: null, scope: null, prefix: null, userId: null, userEmail: null }
    return {
      id,
      state: 'deleted',
      ...nothing,
      organizationId: null,
      organizationName: null,
      createdAt: null,
      lastUsedAt: null,
    }
  }
}
