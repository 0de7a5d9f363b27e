import type { Db } from '../database/open.ts'
import { isId } from '../id.ts'
import { notFound, Problem } from '../problem.ts'
import { MEMBER_PERMISSIONS, type MemberPermission } from './permissions.ts'
import { findMembership, type Member, type Membership, organizationExists } from './store.ts'

/**
 * The caller's membership, where it is in this organization and holds the permission. 404 for an organization
 * that does not exist, 403 for one that is not the caller's.
 */
export async function requireMember(
  db: Db,
  userId: string,
  organizationId: string,
  permission?: MemberPermission,
): Promise<Membership> {
  const membership = isId('org', organizationId) ? await findMembership(db, userId) : undefined
  if (membership?.organizationId === organizationId) {
    if (permission) requirePermission(membership, permission)
    return membership
  }
  if (!isId('org', organizationId) || !(await organizationExists(db, organizationId))) {
    throw notFound('such organization')
  }
  throw new Problem(
    'permission-missing',
    permission
      ? `The caller is not a member of the organization; this needs the permission ${permission} in it.`
      : 'The caller is not a member of the organization.',
  )
}

/** Nobody passes on what they do not hold. */
export function requireHeld(membership: Membership, permissions: readonly MemberPermission[]): void {
  const missing = permissions.find((permission) => !membership.permissions.includes(permission))
  if (missing) {
    throw new Problem('permission-missing', `The caller cannot grant ${missing}, which they do not hold.`)
  }
}

/** Refuses to take MEMBER_MANAGE, by whatever way, from the last member who holds it. */
export function requireOtherManager(members: readonly Member[], userId: string): void {
  const holds = (member: Member) => member.permissions.includes('MEMBER_MANAGE')
  const loses = members.some((member) => member.userId === userId && holds(member))
  if (loses && !members.some((member) => member.userId !== userId && holds(member))) {
    throw new Problem('last-member-manager')
  }
}

/** A user who is alone in an organization may move away; it remains, without members. */
export function requireMovable(members: readonly Member[], userId: string): void {
  if (members.length > 1) requireOtherManager(members, userId)
}

/** The first member holds all; whoever comes later holds what they are given. */
export function startingPermissions(present: readonly unknown[]): MemberPermission[] {
  return present.length === 0 ? [...MEMBER_PERMISSIONS] : []
}

function requirePermission(membership: Membership, permission: MemberPermission): void {
  if (membership.permissions.includes(permission)) return
  throw new Problem(
    'permission-missing',
    `The caller lacks the permission ${permission} in the organization.`,
  )
}
