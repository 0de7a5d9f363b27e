import { ADMIN_PERMISSION, KEY_PERMISSIONS, type KeyScope } from '@wayleave/contract/permissions'
import type { FieldError, KeyChange, NewKey } from '@wayleave/contract/records'
import { isStorableTime } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import { normalOrigin } from '../access/allowed-callers.ts'
import { normalNetwork } from '../access/networks.ts'

/** What a client requests of a key, validated: the name trimmed, the permissions without duplicates, the expiry in UTC. */
export interface KeyInput {
  name: string
  permissions: string[]
  expiresAt: string | null
  allowedOrigins: string[] | null
  allowedAddresses: string[] | null
  test: boolean
  creditLimit: number | null
}

const LONGEST_NAME = 100
const PERMISSION = new RegExp(`^(${KEY_PERMISSIONS.join('|')})(:[a-z][a-z0-9_]{0,62})?$`)
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

export function checkNewKey(newKey: NewKey, scope: KeyScope, now: Date): KeyInput {
  const errors: FieldError[] = []
  const input = {
    name: checkName(newKey.name, errors),
    permissions: checkPermissions(newKey.permissions, scope, errors),
    expiresAt: checkExpiry(newKey.expiresAt ?? null, now, errors),
    allowedOrigins: checkOrigins(newKey.allowedOrigins ?? null, errors),
    allowedAddresses: checkAddresses(newKey.allowedAddresses ?? null, errors),
    test: newKey.test ?? false,
    creditLimit: newKey.creditLimit ?? null,
  }
  if (input.test) checkTestPermissions(input.permissions, errors)
  refuse(errors)
  return input
}

/** Checks only the fields that are present; undefined counts as absent. */
export function checkKeyChange(
  change: KeyChange,
  { scope, isTest }: { scope: KeyScope; isTest: boolean },
  now: Date,
): Partial<KeyInput> {
  const errors: FieldError[] = []
  const input: Partial<KeyInput> = {}
  if (change.name !== undefined) input.name = checkName(change.name, errors)
  if (change.permissions !== undefined) {
    input.permissions = checkPermissions(change.permissions, scope, errors)
    if (isTest) checkTestPermissions(input.permissions, errors)
  }
  if (change.expiresAt !== undefined) input.expiresAt = checkExpiry(change.expiresAt, now, errors)
  if (change.allowedOrigins !== undefined) input.allowedOrigins = checkOrigins(change.allowedOrigins, errors)
  if (change.allowedAddresses !== undefined) {
    input.allowedAddresses = checkAddresses(change.allowedAddresses, errors)
  }
  if (change.creditLimit !== undefined) input.creditLimit = change.creditLimit
  if (Object.keys(input).length === 0) {
    const fields = 'name, permissions, expiresAt, allowedOrigins, allowedAddresses and creditLimit'
    errors.push({ path: 'body', message: `must have at least one of ${fields}` })
  }
  refuse(errors)
  return input
}

function checkName(rawName: string, errors: FieldError[]): string {
  const name = rawName.trim()
  const length = [...name].length
  if (length < 1 || length > LONGEST_NAME) {
    errors.push({ path: '/name', message: `must have 1 to ${LONGEST_NAME} characters` })
  } else if (!name.isWellFormed() || /\p{Cc}|\p{Zl}|\p{Zp}/u.test(name)) {
    errors.push({ path: '/name', message: 'must be one line of text' })
  }
  return name
}

function checkPermissions(permissions: string[], scope: KeyScope, errors: FieldError[]): string[] {
  if (permissions.length === 0)
    errors.push({ path: '/permissions', message: 'must have at least one permission' })
  for (const [index, permission] of permissions.entries()) {
    if (!PERMISSION.test(permission) && !(scope === 'platform' && permission === ADMIN_PERMISSION)) {
      const admin = scope === 'platform' ? ', or admin' : ''
      const message = `must be read or write, or one of them for one dataset, such as read:parcels${admin}`
      errors.push({ path: `/permissions/${index}`, message })
    }
  }
  return [...new Set(permissions)]
}

function checkTestPermissions(permissions: readonly string[], errors: FieldError[]): void {
  if (permissions.every((permission) => permission.startsWith('read'))) return
  errors.push({ path: '/permissions', message: 'must be read only for a test key' })
}

function checkExpiry(timestamp: string | null, now: Date, errors: FieldError[]): string | null {
  if (timestamp === null) return null
  const at = parseTimestamp(timestamp)
  if (!at) {
    const message = 'must be an ISO 8601 timestamp with a time zone, such as 2030-01-31T12:00:00Z'
    errors.push({ path: '/expiresAt', message })
    return null
  }
  if (at <= now) errors.push({ path: '/expiresAt', message: 'must be in the future' })
  return at.toISOString()
}

function checkOrigins(origins: string[] | null, errors: FieldError[]): string[] | null {
  const message = 'must be an origin such as https://maps.example.org, or https://*.example.org'
  return checkList('/allowedOrigins', origins, normalOrigin, message, errors)
}

function checkAddresses(addresses: string[] | null, errors: FieldError[]): string[] | null {
  const message = 'must be an IP address or a network such as 192.0.2.0/24'
  return checkList('/allowedAddresses', addresses, normalNetwork, message, errors)
}

/** An empty list is refused: it could mean that nobody may use the key, or everybody. */
function checkList(
  path: string,
  values: string[] | null,
  normal: (value: string) => string | null,
  message: string,
  errors: FieldError[],
): string[] | null {
  if (values === null) return null
  if (values.length === 0) errors.push({ path, message: 'must have at least one entry, or be null' })
  const normals = values.map((value, index) => {
    const result = normal(value)
    if (result === null) errors.push({ path: `${path}/${index}`, message })
    return result
  })
  return [...new Set(normals.filter((value) => value !== null))]
}

function parseTimestamp(text: string): Date | null {
  const date = TIMESTAMP.exec(text)?.[1]
  if (!date) return null
  // JavaScript parses February 30 as March 2.
  const midnight = new Date(`${date}T00:00:00Z`)
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(date)) return null
  const at = new Date(text)
  return isStorableTime(at) ? at : null
}

function refuse(errors: FieldError[]): void {
  const first = errors[0]
  if (first) throw new Problem('invalid-input', `${first.path}: ${first.message}.`, { errors })
}
