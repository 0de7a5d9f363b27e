import { type Static, type TProperties, Type } from 'typebox'
import { ADMIN_PERMISSION, KEY_PERMISSIONS, KEY_SCOPES, MAX_OVERLAP } from '../permissions.ts'
import { documentedAs, LINE_OF_100, nullable, oneOf, time } from './schema-parts.ts'

const id = Type.String({ description: 'Identifies the key in paths.' })
const NAME = 'A label: 1 to 100 characters after trimming.'
const name = Type.String({ description: NAME })
const scope = oneOf(KEY_SCOPES, {
  description:
    'Whose key it is. A user key acts with the add-ons and credits of its owner’s organization and stops when the owner leaves it; an organization key belongs to the organization; a platform key is the operator’s.',
})
const PERMISSIONS =
  'What the key may do: `read` and `write`, each optionally limited to one dataset (`read:parcels`). Reading data needs `read`. `write` publishes with a platform key; on other keys it is kept and opens nothing. `admin`, for platform keys only, opens the routes under `/v1/admin`.'
const permissions = Type.Array(Type.String(), { description: PERMISSIONS, maxItems: 100 })
const PERMISSION = `(${KEY_PERMISSIONS.join('|')})(:[a-z][a-z0-9_]{0,62})?`
const expiresAt = nullable(
  Type.String({ description: 'When the key stops: an ISO 8601 timestamp in UTC. Null: never.' }),
)
const ALLOWED_ORIGINS =
  'Origins of the web pages that may use the key, such as `https://maps.example.org`, or `https://*.example.org` for all subdomains. The browser’s `Origin` is checked, or `Referer` if there is none; a request with neither is refused. Such a key may be sent as `api_key` in the URL. Null: any caller.'
const ALLOWED_ADDRESSES =
  'Network addresses that may use the key: networks in CIDR notation or single addresses, IPv4 and IPv6. Null: any address.'
const allowedOrigins = nullable(Type.Array(Type.String(), { description: ALLOWED_ORIGINS }))
const allowedAddresses = nullable(Type.Array(Type.String(), { description: ALLOWED_ADDRESSES }))
const CREDIT_LIMIT =
  'Credits that the key may spend in a month (UTC); downloads beyond it are 402 `key-budget-exhausted`. Null: no limit of its own.'
const prefix = Type.String({ description: 'The leading part of the secret, to recognise it by.' })
const TEST =
  'A test key: it gets metadata and samples only and costs nothing. Its secret has the label `test`.'
const secret = Type.String({ description: 'The whole key. Shown this once and never again.' })

export const keyRecordSchema = Type.Object({
  id,
  name,
  scope,
  permissions,
  prefix,
  status: oneOf(['active', 'expired', 'revoked'], { description: 'Only an active key is accepted.' }),
  organizationId: nullable(Type.String({ description: 'Null for a platform key.' })),
  expiresAt,
  createdAt: time,
  rotatedAt: nullable(time),
  revokedAt: nullable(time),
  lastUsedAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'The last use of the current secret, at most a minute behind. Null: not used yet.',
    }),
  ),
  allowedOrigins,
  allowedAddresses,
  creditLimit: nullable(Type.Integer({ description: CREDIT_LIMIT })),
  creditsUsed: Type.Integer({
    description: 'Credits that the key has spent in this month (UTC), which count against `creditLimit`.',
  }),
  previousSecret: nullable(
    Type.Object(
      {
        prefix,
        endsAt: Type.String({ format: 'date-time', description: 'When it stops working.' }),
        lastUsedAt: nullable(Type.String({ format: 'date-time', description: 'At most a minute behind.' })),
      },
      {
        description:
          'The secret before the last rotation, while both work. Null: only the current one works.',
      },
    ),
  ),
  test: Type.Boolean({ description: TEST }),
})

/** A key as shown in lists and responses: never its secret, nor the secret's hash. */
export type KeyRecord = Static<typeof keyRecordSchema>

export const keyListSchema = Type.Object({ data: Type.Array(keyRecordSchema) })

export const createdKeySchema = Type.Object({
  id,
  name,
  scope,
  permissions,
  secret,
  expiresAt,
  createdAt: time,
})

/** The response to a creation. Only this and rotation show the secret. */
export type CreatedKey = Static<typeof createdKeySchema>

export const rotatedKeySchema = Type.Object({ id, secret, rotatedAt: time })

export type RotatedKey = Static<typeof rotatedKeySchema>

export const rotationSchema = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_OVERLAP,
        description:
          'How long the old secret goes on working beside the new one. Without it, or with 0, the old one ends at once.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Rotation = Static<typeof rotationSchema>

/** Max number of allowed origins, and of allowed addresses. */
const MAX_ALLOWED = 50

const allowed = (description: string, pattern: string) =>
  nullable(
    Type.Array(Type.String({ maxLength: 300, ...documentedAs({ pattern }) }), {
      description,
      maxItems: MAX_ALLOWED,
      ...documentedAs({ minItems: 1 }),
    }),
  )

const inputOf = (permission: string) => ({
  name: Type.String({ description: NAME, ...documentedAs({ pattern: LINE_OF_100 }) }),
  permissions: Type.Array(Type.String(documentedAs({ pattern: `^(${permission})$` })), {
    description: PERMISSIONS,
    maxItems: 100,
    ...documentedAs({ minItems: 1 }),
  }),
  expiresAt: nullable(
    Type.String({
      description: 'An ISO 8601 timestamp with a time zone, in the future. Null or left out: never.',
      ...documentedAs({ format: 'date-time' }),
    }),
  ),
  allowedOrigins: allowed(ALLOWED_ORIGINS, '^\\s*https?://[^/?#@\\s]+/?\\s*$'),
  allowedAddresses: allowed(ALLOWED_ADDRESSES, '^\\s*[0-9a-fA-F.:]+(/[0-9]{1,3})?\\s*$'),
  creditLimit: nullable(Type.Integer({ minimum: 0, maximum: 1_000_000_000_000, description: CREDIT_LIMIT })),
})

function newKey<More extends TProperties>(permission: string, more: More) {
  const { name, permissions, ...optional } = inputOf(permission)
  const properties = { name, permissions, ...Type.Partial(Type.Object(optional)).properties, ...more }
  return Type.Object(properties, { additionalProperties: false })
}

function keyChange(permission: string) {
  return Type.Partial(Type.Object(inputOf(permission)), {
    additionalProperties: false,
    ...documentedAs({ minProperties: 1 }),
  })
}

export const newKeySchema = newKey(PERMISSION, { test: Type.Optional(Type.Boolean({ description: TEST })) })

export const newPlatformKeySchema = newKey(`${PERMISSION}|${ADMIN_PERMISSION}`, {})

/** A key as the client requests it. */
export type NewKey = Static<typeof newKeySchema>

/** At least one property; those left out stay unchanged. */
export const keyChangeSchema = keyChange(PERMISSION)

export const platformKeyChangeSchema = keyChange(`${PERMISSION}|${ADMIN_PERMISSION}`)

export type KeyChange = Static<typeof keyChangeSchema>
