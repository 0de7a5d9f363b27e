import { type Static, Type } from 'typebox'
import { ADD_ONS } from '../add-ons.ts'
import { nullable, oneOf, time } from './schema-parts.ts'

export const addOnsSchema = Type.Array(oneOf(ADD_ONS), { maxItems: 10 })

export const adminOrganizationSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  addOns: addOnsSchema,
  credits: Type.Object({ balance: Type.Integer() }),
  members: Type.Integer(),
  createdAt: time,
  suspendedAt: nullable(
    Type.String({ format: 'date-time', description: 'Since when the keys of the organization are refused.' }),
  ),
  suspendReason: nullable(Type.String()),
  publishing: Type.Boolean({ description: 'Whether it may publish datasets.' }),
})

/** An organization as the operator sees it. */
export type AdminOrganization = Static<typeof adminOrganizationSchema>

export const adminUserSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  organizationId: nullable(Type.String({ description: 'The first of `organizations`.' })),
  organizationName: nullable(Type.String()),
  permissions: Type.Array(Type.String()),
  organizations: Type.Array(
    Type.Object({ id: Type.String(), name: Type.String(), permissions: Type.Array(Type.String()) }),
    { description: 'All organizations that the user is a member of, with their permissions there.' },
  ),
  createdAt: time,
  lastSignInAt: nullable(time),
  blockedAt: nullable(
    Type.String({
      format: 'date-time',
      description: 'Since when the user cannot sign in and their personal keys are refused.',
    }),
  ),
  blockReason: nullable(Type.String()),
})

/** A user as the operator sees them. */
export type AdminUser = Static<typeof adminUserSchema>

export const adminSessionSchema = Type.Object({
  id: Type.String(),
  startedAt: time,
  refreshedAt: Type.String({ format: 'date-time', description: 'When it last got an access token.' }),
  expiresAt: time,
})

/** A session of a user, as the operator sees it. */
export type AdminSession = Static<typeof adminSessionSchema>

export const addressBlockSchema = Type.Object({
  id: Type.String(),
  network: Type.String({ description: 'An address with the number of leading bits that count (CIDR).' }),
  reason: Type.String(),
  createdBy: Type.String({ description: 'Who: `user:<id>` or `operator`.' }),
  createdAt: time,
  expiresAt: nullable(Type.String({ format: 'date-time', description: 'Null: until it is removed.' })),
})

/** A network whose requests are refused. */
export type AddressBlock = Static<typeof addressBlockSchema>

export const foundKeySchema = Type.Object({
  id: Type.String(),
  name: nullable(Type.String({ description: 'Null if the key was deleted.' })),
  scope: nullable(Type.String()),
  prefix: nullable(Type.String()),
  state: oneOf(['active', 'expired', 'revoked', 'replaced', 'deleted'], {
    description:
      '`replaced`: the secret was rotated away and is refused, but the key has another one. `deleted`: the secret is refused.',
  }),
  userId: nullable(Type.String()),
  userEmail: nullable(Type.String({ description: 'The owner of a personal key.' })),
  organizationId: nullable(Type.String()),
  organizationName: nullable(Type.String()),
  createdAt: nullable(time),
  lastUsedAt: nullable(time),
})

/** A key that was found by its secret or by its prefix. */
export type FoundKey = Static<typeof foundKeySchema>
