import type { KeyScope } from '@wayleave/contract/permissions'
import type {
  CreatedKey,
  KeyChange,
  KeyRecord,
  NewKey,
  RotatedKey,
  Rotation,
} from '@wayleave/contract/records'
import { type Clock, MINUTE, plus, SECOND } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import type { Origin, UserOrigin } from '../../base/events/events.ts'
import { isId, newId } from '../../base/id.ts'
import { Problem } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { findMembership, lockOrganizations } from '../access/membership-store.ts'
import { readPlanLimits } from '../access/plan-limits-store.ts'
import { hashOf, newSecret, prefixOf, type SecretFormat, testFormat } from '../access/secret.ts'
import { hasFamily } from '../users/session-store.ts'
import { lockUser } from '../users/user-store.ts'
import { type KeyActor, requireKey, requirePublishing } from './key-access.ts'
import { recordKeyEvent } from './key-event.ts'
import { checkKeyChange, checkNewKey, type KeyInput } from './key-input.ts'
import { keyRecord, keyRecords, statusOf } from './key-record.ts'
import { revokeIn } from './revoke-user-keys.ts'
import * as store from './store.ts'

const ANY_CALLER = { allowedOrigins: null, allowedAddresses: null, test: false, creditLimit: null }
const SESSION_LIFE = 15 * MINUTE

export interface KeysOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  format: SecretFormat
  /** Max number of keys of one owner. */
  max: { perUser: number; perOrganization: number }
}

interface Owner {
  scope: KeyScope
  organizationId: string | null
  userId: string | null
}

interface UserOwner extends Owner {
  scope: 'user'
  organizationId: string
  userId: string
}

/**
 * The life cycle of a key: create, change, rotate, revoke, delete. A change locks the key's row, so that
 * concurrent changes are serialized, and returns only when no node accepts the old state any more.
 */
export class Keys {
  readonly #options: KeysOptions

  constructor(options: KeysOptions) {
    this.#options = options
  }

  /** Creates a key of the caller's own, in the organization that they act for. */
  createPersonal(caller: UserOrigin, newKey: NewKey): Promise<CreatedKey> {
    const { database, clock } = this.#options
    const input = checkNewKey(newKey, 'user', clock())
    return database.db.transaction().execute(async (tx) => {
      const owner = await this.#lockUserAsOwner(tx, caller)
      return this.#insertPersonal(tx, caller.origin, owner, input)
    })
  }

  /**
   * Gives a program a key of the caller's own. A program that has one gets a new secret for it, with what the caller
   * agreed to now: otherwise each sign-in of an assistant would add a key. Name and allowed callers stay. `record` is
   * part of the transaction.
   */
  giveToAssistant(
    caller: UserOrigin,
    newKey: NewKey,
    assistant: string,
    record: (tx: Tx, secret: string) => Promise<void>,
  ): Promise<Pick<CreatedKey, 'secret'>> {
    const { database, changes, clock } = this.#options
    const input = checkNewKey(newKey, 'user', clock())
    return changes.commit(async (tx, changed) => {
      const owner = await this.#lockUserAsOwner(tx, caller)
      const key = await store.lockAssistantKey(database, tx, owner, assistant)
      const given = key
        ? await this.#giveAgain(tx, caller.origin, key, input)
        : await this.#insertPersonal(tx, caller.origin, owner, input, assistant)
      if (key) changed('key', key.id)
      await record(tx, given.secret)
      return given
    })
  }

  async #giveAgain(tx: Tx, origin: Origin, key: store.StoredKey, input: KeyInput): Promise<RotatedKey> {
    const { permissions, expiresAt, creditLimit } = input
    await store.updateKey(tx, key.id, {
      permissions: JSON.stringify(permissions),
      expires_at: expiresAt,
      credit_limit: creditLimit,
    })
    const agreed = { permissions, expiresAt, creditLimit }
    await recordKeyEvent(tx, this.#options.clock(), origin, 'key.changed', key, agreed)
    return this.#replaceSecret(tx, origin, key, null)
  }

  createForOrganization(caller: UserOrigin, organizationId: string, newKey: NewKey): Promise<CreatedKey> {
    const { database, clock, max } = this.#options
    const input = checkNewKey(newKey, 'organization', clock())
    return database.db.transaction().execute(async (tx) => {
      if (isId('org', organizationId)) await lockOrganizations(database, tx, [organizationId])
      await requireMember(tx, caller, organizationId, 'APIKEY_CREATE')
      const hasPlanLimit = await requireKeyOfPlan(tx, organizationId)
      const count = await store.countKeys(tx, { userId: null, organizationId })
      if (!hasPlanLimit && count >= max.perOrganization) {
        const detail = `An organization may hold ${max.perOrganization} keys. Delete one first.`
        throw new Problem('key-limit-reached', detail)
      }
      const owner = { scope: 'organization', organizationId, userId: null } as const
      const key = { scope: owner.scope, organization_id: organizationId }
      await requirePublishing(tx, { reach: 'own', ...caller }, key, input.permissions)
      return this.#insert(tx, caller.origin, owner, input)
    })
  }

  createPlatform(origin: Origin, newKey: NewKey): Promise<CreatedKey> {
    const { database, clock } = this.#options
    const input = checkNewKey(newKey, 'platform', clock())
    const owner = { scope: 'platform', organizationId: null, userId: null } as const
    return database.db.transaction().execute((tx) => this.#insert(tx, origin, owner, input))
  }

  /** Creates the console's own key: read-only, for 15 minutes or until its session ends, never listed. */
  createSession(caller: UserOrigin & { sessionId: string }): Promise<CreatedKey> {
    const { database, clock } = this.#options
    const { sessionId, origin } = caller
    return database.db.transaction().execute(async (tx) => {
      const owner = await this.#lockUserAsOwner(tx, caller)
      // Signing out locks the user's row too, so no key can be created in a session that has ended.
      if (!(await hasFamily(tx, sessionId))) throw new Problem('token-invalid')
      const expiresAt = plus(clock(), SESSION_LIFE).toISOString()
      const input = { ...ANY_CALLER, name: 'Console', permissions: ['read'], expiresAt }
      return this.#insert(tx, origin, owner, input, { sessionId })
    })
  }

  /** Those of the organization that the caller acts for. */
  async listPersonal(caller: UserOrigin): Promise<KeyRecord[]> {
    return this.#records(await store.listUserKeys(this.#options.database.db, caller))
  }

  /** The caller's own keys, then the organization's if the caller may see them. */
  async listAccessible(caller: UserOrigin): Promise<KeyRecord[]> {
    const { db } = this.#options.database
    const membership = await findMembership(db, caller)
    const shared = membership?.permissions.includes('APIKEY_VIEW')
      ? await store.listOrganizationKeys(db, membership.organizationId)
      : []
    return [...(await this.listPersonal(caller)), ...(await this.#records(shared))]
  }

  async listForOrganization(caller: UserOrigin, organizationId: string): Promise<KeyRecord[]> {
    const { db } = this.#options.database
    await requireMember(db, caller, organizationId, 'APIKEY_VIEW')
    return this.#records(await store.listOrganizationKeys(db, organizationId))
  }

  async listPlatform(): Promise<KeyRecord[]> {
    return this.#records(await store.listPlatformKeys(this.#options.database.db))
  }

  async view(actor: KeyActor, id: string): Promise<KeyRecord> {
    const { db } = this.#options.database
    const key = isId('key', id) ? await store.findKey(db, id) : undefined
    return keyRecord(db, await requireKey(db, actor, key, 'view'), this.#options.clock())
  }

  change(actor: KeyActor, id: string, change: KeyChange): Promise<KeyRecord> {
    return this.#alter(actor, id, async (tx, key, now) => {
      const input = checkKeyChange(change, { scope: key.scope, isTest: key.test === 1 }, now)
      if (key.revoked_at !== null) throw stateConflict('revoked', 'changed')
      if (input.permissions) await requirePublishing(tx, actor, key, input.permissions)
      const values = {
        ...(input.name === undefined ? {} : { name: input.name }),
        ...(input.permissions === undefined ? {} : { permissions: JSON.stringify(input.permissions) }),
        ...(input.expiresAt === undefined ? {} : { expires_at: input.expiresAt }),
        ...(input.allowedOrigins === undefined ? {} : { allowed_origins: jsonOf(input.allowedOrigins) }),
        ...(input.allowedAddresses === undefined
          ? {}
          : { allowed_addresses: jsonOf(input.allowedAddresses) }),
        ...(input.creditLimit === undefined ? {} : { credit_limit: input.creditLimit }),
      }
      await store.updateKey(tx, id, values)
      await recordKeyEvent(tx, now, actor.origin, 'key.changed', key, { ...input })
      return keyRecord(tx, { ...key, ...values }, now)
    })
  }

  /**
   * Replaces the secret. The old one stops working on every node before this returns, or, with an overlap, at its
   * end by the clock of each node. A key has at most two secrets: another rotation ends the older one at once.
   */
  rotate(actor: KeyActor, id: string, { overlapSeconds = 0 }: Rotation = {}): Promise<RotatedKey> {
    return this.#alter(actor, id, async (tx, key, now) => {
      const status = statusOf(key, now)
      if (status !== 'active') throw stateConflict(status, 'rotated')
      await requirePublishing(tx, actor, key, JSON.parse(key.permissions) as string[])
      const endsAt = overlapSeconds > 0 ? plus(now, overlapSeconds * SECOND).toISOString() : null
      return this.#replaceSecret(tx, actor.origin, key, endsAt)
    })
  }

  /** Idempotent: revoking a revoked key changes nothing and returns the same result. */
  revoke(actor: KeyActor, id: string): Promise<KeyRecord> {
    return this.#alter(actor, id, async (tx, key, now) => {
      if (key.revoked_at !== null) return keyRecord(tx, key, now)
      await revokeIn(tx, now, actor.origin, key)
      return keyRecord(tx, { ...key, revoked_at: now.toISOString() }, now)
    })
  }

  /** Revokes the key whose current secret this is, if there is one. */
  async revokeSecret(origin: Origin, secretHash: string, reason: string): Promise<void> {
    const { database, clock } = this.#options
    const [found] = await store.findKeysBy(database.db, { secretHash }, clock(), 1)
    if (!found) return
    await this.#alter({ reach: 'any', origin }, found.id, async (tx, key, now) => {
      // It may have got another secret meanwhile.
      if (key.revoked_at === null && key.secret_hash === secretHash)
        await revokeIn(tx, now, origin, key, { reason })
    })
  }

  delete(actor: KeyActor, id: string): Promise<void> {
    return this.#alter(actor, id, async (tx, key, now) => {
      await store.recordRevokedSecret(tx, key, now)
      await store.deleteKey(tx, id)
      await recordKeyEvent(tx, now, actor.origin, 'key.deleted', key)
    })
  }

  /** The former secret works until `endsAt`. */
  async #replaceSecret(
    tx: Tx,
    origin: Origin,
    key: store.StoredKey,
    endsAt: string | null,
  ): Promise<RotatedKey> {
    const now = this.#options.clock()
    const secret = this.#newSecret(key.test === 1)
    const rotatedAt = now.toISOString()
    const prefix = prefixOf(secret)
    // At once also with an overlap: a state of the database from before the rotation must not revive it.
    await store.recordRevokedSecret(tx, key, now)
    await store.updateKey(tx, key.id, {
      secret_hash: hashOf(secret),
      prefix,
      rotated_at: rotatedAt,
      last_used_at: null,
      ...(endsAt === null ? store.NO_PREVIOUS_SECRET : store.previousSecretOf(key, endsAt)),
    })
    const overlap = endsAt === null ? {} : { previousEndsAt: endsAt }
    await recordKeyEvent(tx, now, origin, 'key.rotated', key, { prefix, ...overlap })
    return { id: key.id, secret, rotatedAt }
  }

  #alter<T>(
    actor: KeyActor,
    id: string,
    work: (tx: Tx, key: store.StoredKey, now: Date) => Promise<T>,
  ): Promise<T> {
    const { database, changes, clock } = this.#options
    return changes.commit(async (tx, changed) => {
      const storedKey = isId('key', id) ? await store.lockKey(database, tx, id) : undefined
      const key = await requireKey(tx, actor, storedKey, 'change')
      changed('key', id)
      return work(tx, key, clock())
    })
  }

  /**
   * Locks the user's row before reading their membership, so that they cannot leave meanwhile, and then the
   * organization, so that it is not deleted.
   */
  async #lockUserAsOwner(tx: Tx, caller: UserOrigin): Promise<UserOwner> {
    const { database } = this.#options
    await lockUser(database, tx, caller.userId)
    const membership = await findMembership(tx, caller)
    const open = membership && (await lockOrganizations(database, tx, [membership.organizationId]))
    if (!membership || open?.size === 0) {
      const detail = 'The caller belongs to no organization, and a key acts with its organization’s add-ons.'
      throw new Problem('conflict', detail)
    }
    return { scope: 'user', organizationId: membership.organizationId, userId: caller.userId }
  }

  async #insertPersonal(
    tx: Tx,
    origin: Origin,
    owner: UserOwner,
    input: KeyInput,
    assistant: string | null = null,
  ): Promise<CreatedKey> {
    const { perUser } = this.#options.max
    if ((await store.countKeys(tx, owner)) >= perUser) {
      throw new Problem('key-limit-reached', `A user may hold ${perUser} keys. Delete one first.`)
    }
    await requireKeyOfPlan(tx, owner.organizationId)
    return this.#insert(tx, origin, owner, input, { assistant })
  }

  async #insert(
    tx: Tx,
    origin: Origin,
    { scope, organizationId, userId }: Owner,
    { name, permissions, expiresAt, allowedOrigins, allowedAddresses, test, creditLimit }: KeyInput,
    { sessionId = null, assistant = null }: { sessionId?: string | null; assistant?: string | null } = {},
  ): Promise<CreatedKey> {
    const now = this.#options.clock()
    const secret = this.#newSecret(test)
    const key: store.StoredKey = {
      id: newId('key'),
      name,
      scope,
      permissions: JSON.stringify(permissions),
      prefix: prefixOf(secret),
      secret_hash: hashOf(secret),
      kind: sessionId === null ? 'key' : 'session',
      session_id: sessionId,
      organization_id: organizationId,
      user_id: userId,
      rate: null,
      burst: null,
      expires_at: expiresAt,
      created_at: now.toISOString(),
      rotated_at: null,
      revoked_at: null,
      last_used_at: null,
      allowed_origins: jsonOf(allowedOrigins),
      allowed_addresses: jsonOf(allowedAddresses),
      test: test ? 1 : 0,
      credit_limit: creditLimit,
      assistant,
      ...store.NO_PREVIOUS_SECRET,
    }
    await store.insertKey(tx, key)
    // The console creates a key every 15 minutes, which is not worth an event: the sign-in is recorded.
    if (key.kind === 'key') {
      const detail = {
        permissions,
        expiresAt,
        ...(allowedOrigins && { allowedOrigins }),
        ...(allowedAddresses && { allowedAddresses }),
        ...(test && { test }),
        ...(creditLimit !== null && { creditLimit }),
      }
      await recordKeyEvent(tx, now, origin, 'key.created', key, detail)
    }
    return { id: key.id, name, scope, permissions, secret, expiresAt, createdAt: key.created_at }
  }

  #newSecret(isTest: boolean): string {
    const { format } = this.#options
    return newSecret(isTest ? testFormat(format) : format)
  }

  #records(keys: store.StoredKey[]): Promise<KeyRecord[]> {
    const { database, clock } = this.#options
    return keyRecords(database.db, keys, clock())
  }
}

function jsonOf(list: string[] | null): string | null {
  return list && JSON.stringify(list)
}

function stateConflict(status: string, verb: string): Problem {
  return new Problem('key-state-conflict', `The key is ${status} and cannot be ${verb}.`)
}

/** Throws if the plan of the organization, whose row is locked, has no room for another key. Whether it sets a limit. */
async function requireKeyOfPlan(tx: Tx, organizationId: string): Promise<boolean> {
  const { keys } = await readPlanLimits(tx, organizationId)
  if (keys === undefined) return false
  if ((await store.countAllKeys(tx, organizationId)) < keys) return true
  const detail = `The plan of the organization includes ${keys} keys, with those of its members. Delete one first.`
  throw new Problem('key-limit-reached', detail)
}
