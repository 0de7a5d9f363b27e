/** What a member may do in the organization beyond reading its name and members. */
export type MemberPermission = 'APIKEY_VIEW' | 'APIKEY_CREATE' | 'MEMBER_MANAGE' | 'BILLING_VIEW'

export const MEMBER_PERMISSIONS: readonly MemberPermission[] = [
  'APIKEY_VIEW',
  'APIKEY_CREATE',
  'MEMBER_MANAGE',
  'BILLING_VIEW',
]

export function isMemberPermission(text: string): text is MemberPermission {
  return (MEMBER_PERMISSIONS as readonly string[]).includes(text)
}

/** Removes duplicates and sorts, so that equal sets are equal arrays. */
export function sortPermissions(given: readonly MemberPermission[]): MemberPermission[] {
  return MEMBER_PERMISSIONS.filter((permission) => given.includes(permission))
}
