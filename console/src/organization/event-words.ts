import { ACTOR_WORDS, actionWords } from '@wayleave/contract/action-words'
import { CODE_NAMES } from '@wayleave/contract/code-names'
import type { EventRecord } from '@wayleave/contract/records'
import { money } from '../billing/money.ts'
import { permissionWords } from '../keys/key-permissions.ts'
import { count, lowered, moment, plural } from '../words.ts'

/** The subject's current name, else its name at the time of the event, else its id. */
export function subjectName({ subject, subjectName, detail }: EventRecord): string {
  const then = detail['name'] ?? detail['email']
  return subjectName ?? (typeof then === 'string' ? then : subjectWords(subject))
}

/** Subjects whose id says all. */
const SELF_EXPLANATORY = ['dataset', 'address']

/** Subjects whose id tells people nothing; the details tell what they were about. */
const UNNAMED: Record<string, string> = {
  invitation: 'An invitation',
  order: 'An order',
  subscription: 'A plan',
  webhook: 'A webhook',
}

function subjectWords(subject: string): string {
  const [kind, id = ''] = subject.split(/:(.*)/s)
  if (Object.hasOwn(UNNAMED, kind!)) return UNNAMED[kind!]!
  if (id === '' || SELF_EXPLANATORY.includes(kind!)) return id || subject
  const words = kind!.replaceAll('-', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${id}`
}

const ADMINISTRATION_PAGES: Record<string, string> = {
  user: '/administration/users',
  organization: '/administration/organizations',
}

/** The page of an event's subject, if it is still there and the reader can open it. */
export function subjectPath(
  { subject, subjectName }: EventRecord,
  /** What the reader sees. Administrators, for whom `keys` is null, open users and organizations instead of keys. */
  seen: { keys: readonly string[] | null; tables: readonly string[] },
): string | null {
  const [kind, id = ''] = subject.split(/:(.*)/s)
  if (kind === 'dataset') return seen.tables.includes(id) ? `/datasets/${id}` : null
  if (seen.keys !== null) return kind === 'key' && seen.keys.includes(id) ? `/keys/${id}` : null
  const list = Object.hasOwn(ADMINISTRATION_PAGES, kind!) && ADMINISTRATION_PAGES[kind!]
  return list && subjectName !== null ? `${list}/${id}` : null
}

/** Whether somebody should look at it: a refusal, a failure or a block. */
export function isAlarming(action: string): boolean {
  return /\.(?:refused|failed|blocked|exhausted|suspended|paused)$/.test(action)
}

/** The id of the user or the key that did it; null for the operator and the service. */
export function actorId({ actor }: EventRecord): string | null {
  return /^(?:user|key):(.+)$/.exec(actor)?.[1] ?? null
}

/** Who did it: a mail address, the name of a key, or what stands for neither. */
export function actorWords({ actor, actorName }: EventRecord): string {
  if (actorName !== null) return actorName
  if (Object.hasOwn(ACTOR_WORDS, actor)) return ACTOR_WORDS[actor]!
  const [kind, id] = actor.split(':')
  return kind === 'user' || kind === 'key' ? `A deleted ${kind} (${id})` : actor
}

const REASONS: Record<string, string> = {
  reuse: 'because its token was used twice, which may mean that it was stolen',
  replaced: 'because a newer one replaced it',
  cancelled: 'because it was cancelled',
  unknown: 'for an unknown reason',
}

/** The names of details that do not read as words. */
const DETAILS: Record<string, string> = {
  addOns: 'add-ons',
  expiresAt: 'expires',
  periodEnd: 'until',
  keepsCredits: 'keeps credits',
  creditLimit: 'limit',
  taxNumber: 'tax number',
  restoreId: 'restore',
  revokedKeys: 'revoked keys',
  allowedOrigins: 'allowed pages',
  allowedAddresses: 'allowed addresses',
}

const SCOPES: Record<string, string> = {
  user: 'personal',
  organization: 'shared by the organization',
  platform: 'of the platform',
}

const PROVIDERS: Record<string, string> = {
  stripe: 'Stripe',
  invoice: 'invoice',
  demo: 'the demo',
}

/** Details that only programs need: ids, and the currency, which stands with the amount. */
const UNTOLD = new Set(['name', 'email', 'productId', 'requestId', 'currency'])

/** Details that are a phrase of their own, without their name; null for any other. */
function phraseOf(name: string, value: unknown, { currency }: EventRecord['detail']): string | null {
  if (name === 'permissions' && Array.isArray(value)) {
    if (value.some(isOfKey)) return lowered(permissionWords(value))
    return value.map((one) => lowered(valueWords(one))).join(', ')
  }
  if (name === 'events' && Array.isArray(value))
    return `told of: ${value.map((one) => lowered(actionWords(String(one)))).join(', ')}`
  if (name === 'changed' && Array.isArray(value)) return value.map((one) => nameWords(String(one))).join(', ')
  if (name === 'test') return value === true ? 'a test key' : ''
  if (typeof value === 'number') {
    if (['amount', 'price'].includes(name) && typeof currency === 'string') return money(value, currency)
    if (name === 'credits') return plural(value, 'credit')
    if (name === 'creditLimit') return `${plural(value, 'credit')} a month`
    if (name === 'rows') return plural(value, 'row')
    if (name === 'failures') return value === 1 ? '' : `failed ${count(value)} times in a row`
  }
  if (typeof value !== 'string') return null
  // The organization that a user switched from. The id of another one tells members of this one nothing.
  if (name === 'from' && value.startsWith('org_')) return ''
  if (name === 'problem') return value
  if (name === 'reason') return REASONS[value] ?? value
  if (name === 'scope') return SCOPES[value] ?? value
  if (name === 'provider') return `by ${PROVIDERS[value] ?? value}`
  return null
}

const isOfKey = (permission: unknown) => /^(?:read|write|admin)\b/.test(String(permission))

/** The details of the event beside its subject; empty values are omitted. */
export function detailWords({ detail }: EventRecord): string {
  return Object.entries(detail)
    .filter(([name]) => !UNTOLD.has(name))
    .map(([name, value]) => {
      const phrase = phraseOf(name, value, detail)
      if (phrase !== null) return phrase
      const words = valueWords(value)
      return words === '' ? '' : `${nameWords(name)} ${words}`
    })
    .filter((words) => words !== '')
    .join(' · ')
}

function nameWords(name: string): string {
  return DETAILS[name] ?? name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
}

function valueWords(value: unknown): string {
  if (value === null) return ''
  if (Array.isArray(value)) return value.map(valueWords).join(', ')
  if (typeof value === 'number') return count(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value !== 'string') return JSON.stringify(value)
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return moment(value)
  return CODE_NAMES[value] ?? value
}
