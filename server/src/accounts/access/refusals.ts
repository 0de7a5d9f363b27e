import { type Clock, MINUTE } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { recordEvent } from '../../base/events/events.ts'
import { findUserByEmail } from '../users/user-store.ts'
import { findFormerKey } from './refusal-store.ts'
import { findKeyByHash, type KeyRow } from './verifier-store.ts'

/** The actions of events about refusals. They are kept for a shorter time than other events. */
export const REFUSAL_ACTIONS = ['key.refused', 'sign-in.failed'] as const

export interface Refusal {
  action: (typeof REFUSAL_ACTIONS)[number]
  /** Null in the event about the refusals that were too many to list. */
  address: string | null
  /** For a key: the hash of the secret that was sent, if it has the form of one. */
  secretHash?: string
  /** For a key that works, but not for this caller. */
  reason?: string | undefined
  /** For a sign-in: the mail address that was used. */
  email?: string
}

interface RefusalSubject {
  subject: string
  organizationId: string | null
  reason?: string | undefined
}

interface Counted extends Refusal {
  count: number
  /** How many of them are in events already. */
  recorded: number
}

/** Repeated refusals within this time become at most two events: the first, and one with the number. */
const WINDOW = 10 * MINUTE
/** Max number of different refusals of an action in a window; the rest is counted together. */
const MAX_DIFFERENT = 50
/** Max number of different keys or users that one address is listed with; its others are counted together. */
const MAX_OF_ADDRESS = 10

/**
 * Makes events of refused keys and failed sign-ins. What an attacker can cause is bounded: about two hundred
 * rows in ten minutes, however many requests are made. Nothing is looked up or written while a request waits.
 */
export class Refusals {
  readonly #database: ControlDatabase
  readonly #clock: Clock
  #counted = new Map<string, Counted>()
  #windowEnd = 0

  constructor(database: ControlDatabase, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  note(refusal: Refusal): void {
    const { action, address } = refusal
    const ofAddress: Refusal = { action, address }
    const candidates = [refusal, ofAddress, { action, address: null }]
    const listed = candidates.find((candidate) => this.#isRoomFor(candidate))!
    const counted = this.#counted.get(nameOf(listed))
    if (counted) counted.count++
    else this.#counted.set(nameOf(listed), { ...listed, count: 1, recorded: 0 })
  }

  /** Limits the entries of each action and of each address, so that neither fills the list. */
  #isRoomFor(refusal: Refusal): boolean {
    const { action, address, secretHash, email } = refusal
    if (address === null || this.#counted.has(nameOf(refusal))) return true
    const ofAction = [...this.#counted.values()].filter((counted) => counted.action === action)
    if (ofAction.length >= MAX_DIFFERENT) return false
    if (secretHash === undefined && email === undefined) return true
    return ofAction.filter((counted) => counted.address === address).length < MAX_OF_ADDRESS
  }

  /** Records what is new, and at the end of a window the repetitions. */
  async flush({ isLast = false } = {}): Promise<void> {
    const now = this.#clock()
    const isEnd = isLast || now.getTime() >= this.#windowEnd
    for (const counted of [...this.#counted.values()]) {
      const { count, recorded } = counted
      if (count === recorded || (recorded > 0 && !isEnd)) continue
      // At first, because another call may come meanwhile.
      counted.recorded = count
      try {
        await this.#record(counted, now, count - recorded)
      } catch (error) {
        counted.recorded -= count - recorded
        throw error
      }
    }
    if (!isEnd) return
    this.#windowEnd = now.getTime() + WINDOW
    for (const [name, { count, recorded }] of this.#counted)
      if (count === recorded) this.#counted.delete(name)
  }

  async #record(refusal: Refusal, at: Date, count: number): Promise<void> {
    const { action, address } = refusal
    const { subject, organizationId, reason } = await this.#describe(refusal)
    await this.#database.db
      .transaction()
      .execute((tx) =>
        recordEvent(
          tx,
          at,
          { actor: 'system', address, requestId: null },
          { action, organizationId, subject, detail: { ...(reason && { reason }), count } },
        ),
      )
  }

  /** Names the key or the user if there is one. An address that belongs to no user is not stored. */
  async #describe({ address, secretHash, email, reason: givenReason }: Refusal): Promise<RefusalSubject> {
    const { db } = this.#database
    const unknown = { subject: address === null ? 'addresses' : `address:${address}`, organizationId: null }
    if (address === null) return { ...unknown, reason: 'more than can be listed' }
    if (secretHash !== undefined) {
      const key = await findKeyByHash(db, secretHash)
      if (key) {
        const reason = givenReason ?? refusalReason(key)
        return { subject: `key:${key.id}`, organizationId: key.organization_id, reason }
      }
      const former = await findFormerKey(db, secretHash)
      if (former !== undefined) return { subject: `key:${former}`, organizationId: null, reason: 'replaced' }
      return { ...unknown, reason: 'unknown' }
    }
    const user = email === undefined ? undefined : await findUserByEmail(db, email)
    if (!user) return unknown
    const reason = user.blockedAt === null ? undefined : 'the user is blocked'
    return { subject: `user:${user.id}`, organizationId: null, reason }
  }
}

function refusalReason(key: KeyRow): string {
  if (key.revoked_at !== null) return 'revoked'
  if (key.owner_blocked_at !== null) return 'the owner is blocked'
  if (key.scope === 'user' && key.owner_organization_id !== key.organization_id) {
    return 'the owner left the organization'
  }
  return key.secret_ends_at === null ? 'expired' : 'replaced'
}

function nameOf({ action, address, secretHash = '', email = '', reason = '' }: Refusal): string {
  return `${action} ${address} ${secretHash} ${email} ${reason}`
}
