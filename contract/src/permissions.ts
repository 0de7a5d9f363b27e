/** What a member may do in an organization beyond reading its name and members, as the console shows it. */
export const MEMBER_PERMISSION_MEANINGS = {
  APIKEY_VIEW: 'See the organization’s keys and their usage.',
  APIKEY_CREATE: 'Create, change, rotate, revoke and delete the organization’s keys.',
  MEMBER_MANAGE: 'Invite, change and remove members, rename the organization, see events, manage webhooks.',
  BILLING_VIEW: 'See credits, the ledger and the usage of all keys.',
  DATASET_PUBLISH:
    'Publish, change and remove the organization’s datasets, and decide who gets them, if the operator allows it.',
  BILLING_MANAGE: 'Buy credits and plans, cancel plans, change the address on invoices.',
} as const

/** What people call the permissions; programs use the codes. */
export const MEMBER_PERMISSION_NAMES: Record<MemberPermission, string> = {
  APIKEY_VIEW: 'See keys',
  APIKEY_CREATE: 'Manage keys',
  MEMBER_MANAGE: 'Manage members',
  BILLING_VIEW: 'See usage and credits',
  DATASET_PUBLISH: 'Publish datasets',
  BILLING_MANAGE: 'Buy credits and plans',
}

export type MemberPermission = keyof typeof MEMBER_PERMISSION_MEANINGS

export const MEMBER_PERMISSIONS = Object.keys(MEMBER_PERMISSION_MEANINGS) as readonly MemberPermission[]

/** What a key may do with all datasets; `read:parcels` limits a permission to one dataset. */
export const KEY_PERMISSIONS = ['read', 'write'] as const

export type KeyPermission = (typeof KEY_PERMISSIONS)[number]

/** Opens the administration routes to a platform key; other keys cannot have it. */
export const ADMIN_PERMISSION = 'admin'

/** Whose key it is. */
export const KEY_SCOPES = ['user', 'organization', 'platform'] as const

export type KeyScope = (typeof KEY_SCOPES)[number]

/** The longest overlap of a rotation: a week, in seconds. */
export const MAX_OVERLAP = 604_800
