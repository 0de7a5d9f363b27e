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

/** The role that has exactly these permissions; undefined if none has. */
export function roleOf(permissions: readonly string[]): Role | undefined {
  return ROLES.find(
    (role) =>
      role.permissions.length === permissions.length &&
      role.permissions.every((permission) => permissions.includes(permission)),
  )
}
