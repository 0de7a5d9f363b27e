import type { AdminSession, AdminUser } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Changed, Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { notFound, Problem } from '../../base/problem.ts'
import { requireMovable } from '../access/membership.ts'
import { deleteMember, findMembership, lockOrganizations, readMembers } from '../access/membership-store.ts'
import { revokeUserKeys } from '../keys/revoke-user-keys.ts'
import { deleteKeysOfSession, deleteSessionKeys } from '../keys/store.ts'
import { voidInvitations } from '../organizations/void-invitations.ts'
import { deleteFamiliesOf, listSessions } from '../users/session-store.ts'
import { deleteUser, findUser, lockUser, setBlocked, type User } from '../users/user-store.ts'
import { listUsers } from './administration-store.ts'
import { closeOrganization } from './close-organization.ts'
import { deleteRowsOfEmail, removeUserFromEvents } from './personal-data-store.ts'

export interface UserAdministrationOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  administrators: ReadonlySet<string>
}

/**
 * What the operator may do to a user. Each change locks the user's row, as signing in, refreshing and creating
 * keys do, and takes effect on every node before it returns.
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
      const organizationId = await this.#voidInvitations(tx, at, origin, id)
      await recordEvent(tx, at, origin, {
        action: 'user.blocked',
        organizationId,
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
      const membership = await findMembership(tx, id)
      await recordEvent(tx, this.#options.clock(), origin, {
        action: 'user.unblocked',
        organizationId: membership?.organizationId ?? null,
        subject: `user:${id}`,
      })
      changed('user', id)
    })
    return this.find(id)
  }

  /**
   * Deletes the user with their sessions and personal keys. The ledger and the events stay; events keep the
   * user's id, and lose the mail address and network addresses. Refused for the last member with
   * MEMBER_MANAGE while there are other members. An organization of which the user is the only member is
   * closed: its keys are revoked, and it loses its name, which may be the user's.
   */
  async delete(origin: Origin, id: string): Promise<void> {
    const { database, clock } = this.#options
    await this.#change(id, async (tx, changed, user) => {
      this.#requireNoAdministrator(user)
      const at = clock()
      const membership = await findMembership(tx, id)
      const organizationId = membership?.organizationId ?? null
      await this.#endSessions(tx, changed, origin, user)
      if (organizationId !== null) {
        await lockOrganizations(database, tx, [organizationId])
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
      await deleteUser(tx, id)
      await recordEvent(tx, at, origin, { action: 'user.deleted', organizationId, subject: `user:${id}` })
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
    const membership = await findMembership(tx, id)
    await recordEvent(tx, this.#options.clock(), origin, {
      action: 'session.ended',
      organizationId: membership?.organizationId ?? null,
      subject: `user:${id}`,
      detail: { reason: 'operator', sessions: ended.length },
    })
    return ended.length
  }

  async #voidInvitations(tx: Tx, at: Date, origin: Origin, userId: string): Promise<string | null> {
    const membership = await findMembership(tx, userId)
    if (!membership) return null
    const { organizationId } = membership
    await lockOrganizations(this.#options.database, tx, [organizationId])
    await voidInvitations(tx, at, origin, { userId, organizationId, permissions: [] })
    return organizationId
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
