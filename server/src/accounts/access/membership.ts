import { MEMBER_PERMISSIONS, type MemberPermission } from '@wayleave/contract/permissions'
import type { Member } from '@wayleave/contract/records'
import type { Db } from '../../base/database/open.ts'
import type { Acting } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { notFound, Problem } from '../../base/problem.ts'
import { findMembership, type Membership, organizationExists, readMemberships } from './membership-store.ts'

/**
 * Returns the caller's membership if they act for this organization and have the permission. Throws 404 if the
 * organization does not exist, 403 if the caller is not a member. A member of several organizations acts for one at a
 * time: the token says for which, so that nothing happens in another one by mistake.
 */
export async function requireMember(
  db: Db,
  acting: Acting,
  organizationId: string,
  permission?: MemberPermission,
): Promise<Membership> {
  const membership = acting.organizationId === organizationId ? await findMembership(db, acting) : undefined
  if (membership) {
    if (permission) requirePermission(membership, permission)
    return membership
  }
  if (!isId('org', organizationId) || !(await organizationExists(db, organizationId))) {
    throw notFound('such organization')
  }
  const memberships = await readMemberships(db, acting.userId)
  if (memberships.some((one) => one.organizationId === organizationId)) {
    throw new Problem(
      'permission-missing',
      'The caller acts for another organization. POST /v1/auth/switch returns a token for this one.',
    )
  }
  throw new Problem(
    'permission-missing',
    permission
      ? `The caller is not a member of the organization; this needs the permission ${permission} in it.`
      : 'The caller is not a member of the organization.',
  )
}

/** A member cannot grant a permission that they do not have. */
export function requireHeld(membership: Membership, permissions: readonly MemberPermission[]): void {
  const missing = permissions.find((permission) => !membership.permissions.includes(permission))
  if (missing) {
    throw new Problem('permission-missing', `The caller cannot grant ${missing}, which they do not hold.`)
  }
}

/** Whether a member with these permissions may invite others with those of the invitation. */
export function mayInvite(
  permissions: readonly MemberPermission[],
  invited: readonly MemberPermission[],
): boolean {
  return (
    permissions.includes('MEMBER_MANAGE') && invited.every((permission) => permissions.includes(permission))
  )
}

/** Throws if the last member with MEMBER_MANAGE would lose it. */
export function requireOtherManager(members: readonly Member[], userId: string): void {
  const holds = (member: Member) => member.permissions.includes('MEMBER_MANAGE')
  const loses = members.some((member) => member.userId === userId && holds(member))
  if (loses && !members.some((member) => member.userId !== userId && holds(member))) {
    throw new Problem('last-member-manager')
  }
}

/** The only member of an organization may leave it; the organization remains, without members. */
export function requireMovable(members: readonly Member[], userId: string): void {
  if (members.length > 1) requireOtherManager(members, userId)
}

/** The first member gets all permissions, later ones only those they are granted. */
export function startingPermissions(members: readonly unknown[]): MemberPermission[] {
  return members.length === 0 ? [...MEMBER_PERMISSIONS] : []
}

function requirePermission(membership: Membership, permission: MemberPermission): void {
  if (membership.permissions.includes(permission)) return
  throw new Problem(
    'permission-missing',
    `The caller lacks the permission ${permission} in the organization.`,
  )
}
