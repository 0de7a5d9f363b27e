import type { AdminSession, AdminUser, PersonalData } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Changed, Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import type { AuditEvent } from '../../base/events/audit-event.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { notFound, Problem } from '../../base/problem.ts'
import { requireMovable } from '../access/membership.ts'
import { deleteMember, lockOrganizations, readMembers, readMemberships } from '../access/membership-store.ts'
import { revokeUserKeys } from '../keys/revoke-user-keys.ts'
import { deleteKeysOfSession, deleteSessionKeys } from '../keys/store.ts'
import { voidInvitations } from '../organizations/void-invitations.ts'
import { deleteFamiliesOf, listSessions } from '../users/session-store.ts'
import { deleteUser, findUser, lockUser, setBlocked, type User } from '../users/user-store.ts'
import { listUsers } from './administration-store.ts'
import { closeOrganization } from './close-organization.ts'
import { readPersonalData } from './personal-data.ts'
import {
  deleteRequestsOf,
  deleteRowsOfEmail,
  deleteSignOnOf,
  removeUserFromEvents,
} from './personal-data-store.ts'

export interface UserAdministrationOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  administrators: ReadonlySet<string>
}

/**
 * What the operator may do to a user, and users to themselves: export their data and close their account. Each change
 * locks the user's row, as signing in, refreshing and creating keys do, and takes effect on every node before it returns.
 */
export class UserAdministration {
  readonly #options: UserAdministrationOptions

  constructor(options: UserAdministrationOptions) {
    this.#options = options
  }

  async find(id: string): Promise<AdminUser> {
    const [user] = isId('usr', id) ? await listUsers(this.#options.database.db, { id }) : []
    if (!user) throw notFound('such user')
    return user
  }

  /** Everything that the service stores about a user, for the user or for the operator. */
  async data(id: string): Promise<PersonalData> {
    const { database, clock } = this.#options
    const user = isId('usr', id) ? await findUser(database.db, id) : undefined
    if (!user) throw notFound('such user')
    return readPersonalData(database.db, clock, user)
  }

  /** The next single sign-on with the user's mail address links the user to that account. */
  async unlink(origin: Origin, id: string): Promise<boolean> {
    return this.#change(id, async (tx, _changed, user) => {
      const wasLinked = await deleteSignOnOf(tx, user.id)
      if (wasLinked) {
        await recordInEach(tx, this.#options.clock(), origin, await organizationsOf(tx, id), {
          action: 'user.unlinked',
          subject: `user:${id}`,
        })
      }
      return wasLinked
    })
  }

  async sessions(id: string): Promise<AdminSession[]> {
    const { id: userId } = await this.find(id)
    return listSessions(this.#options.database.db, userId, this.#options.clock())
  }

  /** Ends one session of the user, or all of them. */
  async endSessions(origin: Origin, id: string, sessionId?: string): Promise<number> {
    return this.#change(id, async (tx, changed, user) => {
      const count = await this.#endSessions(tx, changed, origin, user, sessionId)
      if (sessionId !== undefined && count === 0) throw notFound('such session')
      return count
    })
  }

  /**
   * The user cannot sign in, their sessions end, their personal keys are refused, and their open invitations
   * are void. Keys of the organization stay. Blocking a blocked user changes the reason.
   */
  async block(origin: Origin, id: string, reason: string): Promise<AdminUser> {
    await this.#change(id, async (tx, changed, user) => {
      this.#requireNoAdministrator(user)
      const at = this.#options.clock()
      await setBlocked(tx, id, { blocked_at: user.blockedAt ?? at.toISOString(), block_reason: reason })
      await this.#endSessions(tx, changed, origin, user)
      const organizationIds = await this.#lockOrganizations(tx, id)
      for (const organizationId of organizationIds)
        await voidInvitations(tx, at, origin, { userId: id, organizationId, permissions: [] })
      await recordInEach(tx, at, origin, organizationIds, {
        action: 'user.blocked',
        subject: `user:${id}`,
        detail: { reason },
      })
      changed('user', id)
    })
    return this.find(id)
  }

  async unblock(origin: Origin, id: string): Promise<AdminUser> {
    await this.#change(id, async (tx, changed, user) => {
      if (user.blockedAt === null) return
      await setBlocked(tx, id, { blocked_at: null, block_reason: null })
      await recordInEach(tx, this.#options.clock(), origin, await organizationsOf(tx, id), {
        action: 'user.unblocked',
        subject: `user:${id}`,
      })
      changed('user', id)
    })
    return this.find(id)
  }

  /**
   * Deletes the user with their sessions and personal keys, for the operator or for the user. The ledger and the events
   * stay; events keep the user's id, and lose the mail address and network addresses. Refused for the last member with
   * MEMBER_MANAGE of an organization while it has other members. An organization whose only member is the user is
   * closed: its keys are revoked, and it loses its name, which may be the user's.
   */
  async delete(origin: Origin, id: string): Promise<void> {
    const { database, clock } = this.#options
    await this.#change(id, async (tx, changed, user) => {
      this.#requireNoAdministrator(user)
      const at = clock()
      await this.#endSessions(tx, changed, origin, user)
      const organizationIds = await this.#lockOrganizations(tx, id)
      for (const organizationId of organizationIds) {
        const members = await readMembers(tx, organizationId)
        requireMovable(members, id)
        await voidInvitations(tx, at, origin, { userId: id, organizationId, permissions: [] })
        await revokeUserKeys(database, tx, at, origin, { userId: id, organizationId }, 'the user was deleted')
        await deleteMember(tx, id, organizationId)
        if (members.length === 1) {
          const reason = 'its only member was deleted'
          await closeOrganization({ database, tx, changed, at }, origin, organizationId, reason)
        }
      }
      await removeUserFromEvents(tx, id, user.email)
      await deleteRowsOfEmail(tx, user.email)
      await deleteRequestsOf(tx, id)
      await deleteUser(tx, id)
      // The address of a user who deletes themselves is theirs.
      const anonymous = { ...origin, address: origin.actor === `user:${id}` ? null : origin.address }
      await recordInEach(tx, at, anonymous, organizationIds, {
        action: 'user.deleted',
        subject: `user:${id}`,
      })
      changed('user', id)
    })
  }

  #change<T>(id: string, work: (tx: Tx, changed: Changed, user: User) => Promise<T>): Promise<T> {
    const { database, changes } = this.#options
    return changes.commit(async (tx, changed) => {
      const user = isId('usr', id) && (await lockUser(database, tx, id)) ? await findUser(tx, id) : undefined
      if (!user) throw notFound('such user')
      return work(tx, changed, user)
    })
  }

  async #endSessions(
    tx: Tx,
    changed: Changed,
    origin: Origin,
    { id }: User,
    sessionId?: string,
  ): Promise<number> {
    const ended = await deleteFamiliesOf(tx, id, sessionId)
    for (const session of ended) {
      for (const key of await deleteKeysOfSession(tx, session)) changed('key', key)
    }
    if (sessionId === undefined) {
      await deleteSessionKeys(tx, id)
      changed('user', id)
    }
    if (ended.length === 0) return 0
    const reason = origin.actor === `user:${id}` ? 'account closed' : 'operator'
    await recordInEach(tx, this.#options.clock(), origin, await organizationsOf(tx, id), {
      action: 'session.ended',
      subject: `user:${id}`,
      detail: { reason, sessions: ended.length },
    })
    return ended.length
  }

  /** Locks and returns the organizations of the user, whose row is locked: they cannot join others meanwhile. */
  async #lockOrganizations(tx: Tx, userId: string): Promise<string[]> {
    return [...(await lockOrganizations(this.#options.database, tx, await organizationsOf(tx, userId)))]
  }

  /** The settings say who is an administrator; otherwise one of them could lock the others out. */
  #requireNoAdministrator({ email }: User): void {
    if (this.#options.administrators.has(email)) {
      throw new Problem(
        'conflict',
        'The user is a platform administrator. Take the address out of WAYLEAVE_ADMINS first.',
      )
    }
  }
}

async function organizationsOf(tx: Tx, userId: string): Promise<string[]> {
  return (await readMemberships(tx, userId)).map(({ organizationId }) => organizationId)
}

/** The audit log of each organization of a user has what happens to the user. */
async function recordInEach(
  tx: Tx,
  at: Date,
  origin: Origin,
  organizationIds: readonly string[],
  event: Omit<AuditEvent, 'organizationId'>,
): Promise<void> {
  for (const organizationId of organizationIds.length === 0 ? [null] : organizationIds) {
    await recordEvent(tx, at, origin, { ...event, organizationId })
  }
}
