import { ADMIN_PERMISSION, KEY_PERMISSIONS, type KeyPermission } from '@wayleave/contract/permissions'

/** The datasets that a permission covers: none, all, or the named ones. */
export type Reach = 'none' | 'all' | string[]

/** `admin` is not about datasets. */
export type Reaches = Record<KeyPermission, Reach> & { admin: boolean }

export const READ_ALL: Reaches = { read: 'all', write: 'none', admin: false }

export function reachesOf(permissions: readonly string[]): Reaches {
  const reach = (permission: KeyPermission): Reach => {
    if (permissions.includes(permission)) return 'all'
    const tables = permissions
      .filter((one) => one.startsWith(`${permission}:`))
      .map((one) => one.slice(permission.length + 1))
    return tables.length > 0 ? tables : 'none'
  }
  return { read: reach('read'), write: reach('write'), admin: permissions.includes(ADMIN_PERMISSION) }
}

export function permissionsOf(reaches: Reaches): string[] {
  const ofDatasets = KEY_PERMISSIONS.flatMap((permission) => {
    const reach = reaches[permission]
    if (reach === 'none') return []
    return reach === 'all' ? [permission] : reach.map((table) => `${permission}:${table}`)
  })
  return reaches.admin ? [...ofDatasets, ADMIN_PERMISSION] : ofDatasets
}

/** A short text for lists, such as "Reads all datasets, publishes parcels". */
export function permissionWords(permissions: readonly string[]): string {
  const { read, write, admin } = reachesOf(permissions)
  const words = (verb: string, reach: Reach) =>
    reach === 'none' ? [] : [reach === 'all' ? `${verb} all datasets` : `${verb} ${reach.join(', ')}`]
  const all = [
    ...words('reads', read),
    ...words('publishes', write),
    ...(admin ? ['administers the service'] : []),
  ].join(', ')
  return all.charAt(0).toUpperCase() + all.slice(1)
}
