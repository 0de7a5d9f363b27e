import { MEMBER_PERMISSIONS, type MemberPermission } from '@wayleave/contract/permissions'

export interface Role {
  name: string
  meaning: string
  permissions: readonly MemberPermission[]
}

/** The usual sets of permissions by name. Others are possible, and are called custom. */
export const ROLES: readonly Role[] = [
  { name: 'Owner', meaning: 'Everything.', permissions: MEMBER_PERMISSIONS },
  {
    name: 'Developer',
    meaning: 'Sees and manages the organization’s keys.',
    permissions: ['APIKEY_VIEW', 'APIKEY_CREATE'],
  },
  {
    name: 'Publisher',
    meaning: 'Publishes the organization’s datasets and decides who gets them.',
    permissions: ['DATASET_PUBLISH'],
  },
  {
    name: 'Billing',
    meaning: 'Sees credits, the ledger and the usage, and buys credits and plans.',
    permissions: ['BILLING_VIEW', 'BILLING_MANAGE'],
  },
  { name: 'Reader', meaning: 'Reads data with keys of their own.', permissions: [] },
]

/** The name of a set of permissions that is not a role. */
export const CUSTOM = 'Custom'

/** The role that has exactly these permissions; undefined if none has. */
export function roleOf(permissions: readonly string[]): Role | undefined {
  return ROLES.find(
    (role) =>
      role.permissions.length === permissions.length &&
      role.permissions.every((permission) => permissions.includes(permission)),
  )
}

/** What a set of permissions is for, in so few words that they fit into a row. */
export function rightsInWords(permissions: readonly string[]): string {
  if (permissions.length === 0) return 'reads data'
  if (MEMBER_PERMISSIONS.every((one) => permissions.includes(one))) return 'everything'
  const has = (permission: MemberPermission, words: string) => (permissions.includes(permission) ? words : '')
  return [
    has('APIKEY_CREATE', 'manages keys') || has('APIKEY_VIEW', 'sees keys'),
    has('MEMBER_MANAGE', 'manages members'),
    has('DATASET_PUBLISH', 'publishes'),
    has('BILLING_MANAGE', 'buys credits') || has('BILLING_VIEW', 'sees usage'),
  ]
    .filter(Boolean)
    .join(', ')
}
