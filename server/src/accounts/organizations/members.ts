import type { MemberPermission } from '@wayleave/contract/permissions'
import type { Member } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { normalEmail } from '../../base/email.ts'
import { type Acting, type Origin, recordEvent, type UserOrigin } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { invalidInput, notFound } from '../../base/problem.ts'
import { setMemberBudget } from '../access/member-budget-store.ts'
import { requireHeld, requireMember, requireOtherManager, startingPermissions } from '../access/membership.ts'
import {
  deleteMember,
  lockOrganizations,
  type Membership,
  putMember,
  readMembers,
  setPermissions,
} from '../access/membership-store.ts'
import { sortPermissions } from '../access/permissions.ts'
import { revokeUserKeys } from '../keys/revoke-user-keys.ts'
import { findOrCreateUser, lockUser } from '../users/user-store.ts'
import { voidInvitations } from './void-invitations.ts'

export interface MembersOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
}

/** The members of an organization and their permissions. A user may be a member of several. */
export class Members {
  readonly #options: MembersOptions

  constructor(options: MembersOptions) {
    this.#options = options
  }

  /** Every member may see the others, to know whom to ask. */
  async list(caller: Acting, organizationId: string): Promise<Member[]> {
    const { db } = this.#options.database
    await requireMember(db, caller, organizationId)
    return readMembers(db, organizationId)
  }

  /**
   * For the operator: takes effect at once, without acceptance. An unknown address becomes a user; a user stays a
   * member of other organizations. Without `permissions` the first member gets all, a later one none, and an existing
   * one keeps theirs.
   */
  async add(
    origin: Origin,
    organizationId: string,
    address: string,
    permissions?: readonly MemberPermission[],
  ): Promise<Member> {
    const { database, changes, clock } = this.#options
    const email = normalEmail(address)
    if (!email) throw invalidInput('/email', 'must be a mail address')
    return changes.commit(async (tx, changed) => {
      const { user, created } = await findOrCreateUser(tx, email, clock())
      if (created) {
        await recordEvent(tx, clock(), origin, {
          action: 'user.created',
          organizationId,
          subject: `user:${user.id}`,
        })
      }
      await joinOrganization({ database, tx, at: clock(), origin }, user.id, organizationId, (members) => {
        const already = members.find((member) => member.userId === user.id)
        return permissions ?? already?.permissions ?? startingPermissions(members)
      })
      changed('user', user.id)
      return memberOf(await readMembers(tx, organizationId), user.id)
    })
  }

  async changePermissions(
    caller: UserOrigin,
    organizationId: string,
    userId: string,
    newPermissions: readonly MemberPermission[],
  ): Promise<Member> {
    const { database, changes, clock } = this.#options
    const { origin } = caller
    return changes.commit(async (tx, changed) => {
      await lockOrganizations(database, tx, [organizationId])
      const membership = await requireMember(tx, caller, organizationId, 'MEMBER_MANAGE')
      const members = await readMembers(tx, organizationId)
      const before = memberOf(members, userId).permissions
      const permissions = sortPermissions(newPermissions)
      requireHeld(
        membership,
        permissions.filter((permission) => !before.includes(permission)),
      )
      if (!permissions.includes('MEMBER_MANAGE')) requireOtherManager(members, userId)
      await setPermissions(tx, userId, { organizationId, permissions })
      await voidInvitations(tx, clock(), origin, { userId, organizationId, permissions })
      await recordEvent(tx, clock(), origin, {
        action: 'member.changed',
        organizationId,
        subject: `user:${userId}`,
        detail: { before, permissions },
      })
      // Keys of the user publish only while the user may.
      changed('user', userId)
      return memberOf(await readMembers(tx, organizationId), userId)
    })
  }

  /** Needs BILLING_MANAGE. Null: no limit. */
  async setBudget(
    caller: UserOrigin,
    organizationId: string,
    userId: string,
    creditLimit: number | null,
  ): Promise<Member> {
    const { database, changes, clock } = this.#options
    return changes.commit(async (tx, changed) => {
      await lockOrganizations(database, tx, [organizationId])
      await requireMember(tx, caller, organizationId, 'BILLING_MANAGE')
      const { creditLimit: before } = memberOf(await readMembers(tx, organizationId), userId)
      await setMemberBudget(tx, organizationId, userId, creditLimit)
      await recordEvent(tx, clock(), caller.origin, {
        action: 'member.budget-changed',
        organizationId,
        subject: `user:${userId}`,
        detail: { before, creditLimit },
      })
      changed('user', userId)
      return memberOf(await readMembers(tx, organizationId), userId)
    })
  }

  /** Removes a member, or lets the caller leave. A null caller is the operator. */
  async remove(caller: Acting | null, origin: Origin, organizationId: string, userId: string): Promise<void> {
    const { database, changes, clock } = this.#options
    await changes.commit(async (tx, changed) => {
      if (isId('usr', userId)) await lockUser(database, tx, userId)
      const organizations = await lockOrganizations(database, tx, [organizationId])
      const isLeaving = caller?.userId === userId
      if (caller === null && organizations.size === 0) throw notFound('such organization')
      if (caller !== null) {
        await requireMember(tx, caller, organizationId, isLeaving ? undefined : 'MEMBER_MANAGE')
      }
      const members = await readMembers(tx, organizationId)
      memberOf(members, userId)
      requireOtherManager(members, userId)
      await deleteMember(tx, userId, organizationId)
      await voidInvitations(tx, clock(), origin, { userId, organizationId, permissions: [] })
      await revokeUserKeys(database, tx, clock(), origin, { userId, organizationId })
      await recordEvent(tx, clock(), origin, {
        action: isLeaving ? 'member.left' : 'member.removed',
        organizationId,
        subject: `user:${userId}`,
      })
      changed('user', userId)
    })
  }
}

export interface Joining {
  database: ControlDatabase
  tx: Tx
  at: Date
  origin: Origin
}

/**
 * Makes a user a member of an organization, beside those that they are in, or changes their permissions in it.
 * `choose` receives the current members, under lock, and returns the user's permissions.
 */
export async function joinOrganization(
  { database, tx, at, origin }: Joining,
  userId: string,
  organizationId: string,
  choose: (members: readonly Member[]) => readonly MemberPermission[],
): Promise<void> {
  await lockUser(database, tx, userId)
  const organizations = await lockOrganizations(database, tx, [organizationId])
  if (!organizations.has(organizationId)) throw notFound('such organization')
  const members = await readMembers(tx, organizationId)
  const membership: Membership = { organizationId, permissions: sortPermissions(choose(members)) }
  const isMember = members.some((member) => member.userId === userId)
  if (isMember) {
    if (!membership.permissions.includes('MEMBER_MANAGE')) requireOtherManager(members, userId)
    await setPermissions(tx, userId, membership)
    await voidInvitations(tx, at, origin, { userId, ...membership })
  } else {
    await putMember(tx, userId, membership, at)
  }
  await recordEvent(tx, at, origin, {
    action: isMember ? 'member.changed' : 'member.added',
    organizationId,
    subject: `user:${userId}`,
    detail: { permissions: membership.permissions },
  })
}

function memberOf(members: readonly Member[], userId: string): Member {
  const member = members.find((one) => one.userId === userId)
  if (!member) throw notFound('such member')
  return member
}
