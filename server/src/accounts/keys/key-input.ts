import { KEY_PERMISSIONS } from '@wayleave/contract/permissions'
import type { FieldError, KeyChange, NewKey } from '@wayleave/contract/records'
import { isStorableTime } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'

/** What a client requests of a key, validated: the name trimmed, the permissions without duplicates, the expiry in UTC. */
export interface KeyInput {
  name: string
  permissions: string[]
  expiresAt: string | null
}

const LONGEST_NAME = 100
const PERMISSION = new RegExp(`^(${KEY_PERMISSIONS.join('|')})(:[a-z][a-z0-9_]{0,62})?$`)
const TIMESTAMP = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/

export function checkNewKey(newKey: NewKey, now: Date): KeyInput {
  const errors: FieldError[] = []
  const input = {
    name: checkName(newKey.name, errors),
    permissions: checkPermissions(newKey.permissions, errors),
    expiresAt: checkExpiry(newKey.expiresAt ?? null, now, errors),
  }
  refuse(errors)
  return input
}

/** Checks only the fields that are present; undefined counts as absent. */
export function checkKeyChange(change: KeyChange, now: Date): Partial<KeyInput> {
  const errors: FieldError[] = []
  const input: Partial<KeyInput> = {}
  if (change.name !== undefined) input.name = checkName(change.name, errors)
  if (change.permissions !== undefined) input.permissions = checkPermissions(change.permissions, errors)
  if (change.expiresAt !== undefined) input.expiresAt = checkExpiry(change.expiresAt, now, errors)
  if (Object.keys(input).length === 0) {
    errors.push({ path: 'body', message: 'must have at least one of name, permissions and expiresAt' })
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

function checkPermissions(permissions: string[], errors: FieldError[]): string[] {
  if (permissions.length === 0)
    errors.push({ path: '/permissions', message: 'must have at least one permission' })
  for (const [index, permission] of permissions.entries()) {
    if (!PERMISSION.test(permission)) {
      const message = 'must be read or write, or one of them for one dataset, such as read:parcels'
      errors.push({ path: `/permissions/${index}`, message })
    }
  }
  return [...new Set(permissions)]
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
