import { MEMBER_PERMISSIONS, type MemberPermission } from '@wayleave/contract/permissions'

export function isMemberPermission(text: string): text is MemberPermission {
  return (MEMBER_PERMISSIONS as readonly string[]).includes(text)
}

/** Removes duplicates and sorts, so that equal sets are equal arrays. */
export function sortPermissions(permissions: readonly MemberPermission[]): MemberPermission[] {
  return MEMBER_PERMISSIONS.filter((permission) => permissions.includes(permission))
}
