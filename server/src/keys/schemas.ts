import { Type } from 'typebox'
import { nullable } from '../http/schemas.ts'

const id = Type.String({ description: 'Identifies the key in paths.' })
const name = Type.String({ description: 'A label: 1 to 100 characters after trimming.' })
const scope = Type.Unsafe<'user' | 'organization' | 'platform'>({
  type: 'string',
  enum: ['user', 'organization', 'platform'],
  description:
    'Whose key it is. A user key acts with the add-ons and credits of its owner’s organization and stops when the owner leaves it; an organization key belongs to the organization; a platform key is the operator’s.',
})
const permissions = Type.Array(Type.String(), {
  description:
    'What the key may do: `read` and `write`, each optionally limited to one dataset (`read:parcels`). Reading data needs `read`. `write` publishes with a platform key; on other keys it is kept and opens nothing.',
  maxItems: 100,
})
const time = Type.String({ format: 'date-time' })
const expiresAt = nullable(
  Type.String({ description: 'When the key stops: an ISO 8601 timestamp in UTC. Null: never.' }),
)
const secret = Type.String({ description: 'The whole key. Shown this once and never again.' })

export const keyRecordSchema = Type.Object({
  id,
  name,
  scope,
  permissions,
  prefix: Type.String({ description: 'The leading part of the secret, to recognise it by.' }),
  status: Type.Unsafe<'active' | 'expired' | 'revoked'>({
    type: 'string',
    enum: ['active', 'expired', 'revoked'],
    description: 'Only an active key is accepted.',
  }),
  organizationId: nullable(Type.String({ description: 'Null for a platform key.' })),
  expiresAt,
  createdAt: time,
  rotatedAt: nullable(time),
  revokedAt: nullable(time),
  lastUsedAt: nullable(Type.String({ format: 'date-time', description: 'At most a minute behind.' })),
})

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

export const rotatedKeySchema = Type.Object({ id, secret, rotatedAt: time })

const given = {
  name,
  permissions,
  expiresAt: nullable(
    Type.String({
      description: 'An ISO 8601 timestamp with a time zone, in the future. Null or left out: never.',
    }),
  ),
}

export const newKeySchema = Type.Object(
  { ...given, expiresAt: Type.Optional(given.expiresAt) },
  { additionalProperties: false },
)

/** At least one property; those left out stay unchanged. */
export const keyChangeSchema = Type.Partial(Type.Object(given), { additionalProperties: false })
