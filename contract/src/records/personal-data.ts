import { type Static, Type } from 'typebox'
import { adminSessionSchema } from './administration.ts'
import { billingProfileSchema, orderSchema } from './billing.ts'
import { keyRecordSchema } from './key.ts'
import { nullable, time } from './schema-parts.ts'

const organizationId = nullable(Type.String())

export const personalDataSchema = Type.Object({
  exportedAt: time,
  user: Type.Object({
    id: Type.String(),
    email: Type.String(),
    createdAt: time,
    lastSignInAt: nullable(time),
    blockedAt: nullable(time),
  }),
  signOn: Type.Array(Type.Object({ issuer: Type.String(), subject: Type.String(), createdAt: time }), {
    description: 'The accounts at providers of single sign-on.',
  }),
  organizations: Type.Array(
    Type.Object({ id: Type.String(), name: Type.String(), permissions: Type.Array(Type.String()) }),
  ),
  sessions: Type.Array(adminSessionSchema),
  keys: Type.Array(keyRecordSchema),
  invitations: Type.Array(
    Type.Object({
      organizationId: Type.String(),
      createdAt: time,
      expiresAt: time,
      acceptedAt: nullable(time),
    }),
  ),
  accessRequests: Type.Array(
    Type.Object({
      organizationId: Type.String(),
      addOns: Type.Array(Type.String()),
      credits: Type.Integer(),
      message: Type.String(),
      state: Type.String(),
      createdAt: time,
    }),
  ),
  budgets: Type.Array(Type.Object({ organizationId: Type.String(), creditLimit: Type.Integer() }), {
    description: 'The credits that the user may spend in a month, by organization.',
  }),
  spending: Type.Array(
    Type.Object({ organizationId: Type.String(), month: Type.String(), credits: Type.Integer() }),
    { description: 'The credits that the user has spent with personal keys and in the console.' },
  ),
  ledger: Type.Array(
    Type.Object({
      organizationId: Type.String(),
      at: time,
      kind: Type.String(),
      amount: Type.Integer(),
      keyId: nullable(Type.String()),
      table: nullable(Type.String()),
      version: nullable(Type.Integer()),
      format: nullable(Type.String()),
    }),
  ),
  usage: Type.Array(
    Type.Object({
      date: Type.String(),
      countedFor: Type.String({ description: 'The id of a key, or the user in the console.' }),
      organizationId,
      operation: Type.String(),
      table: Type.String(),
      format: Type.String(),
      calls: Type.Integer(),
      credits: Type.Integer(),
    }),
  ),
  requests: Type.Array(
    Type.Object({
      keyId: Type.String(),
      at: time,
      operation: Type.String(),
      table: nullable(Type.String()),
      status: Type.Integer(),
      milliseconds: Type.Integer(),
      bytes: nullable(Type.Integer()),
      credits: Type.Integer(),
      weight: Type.Integer({ description: 'How many requests the row stands for.' }),
    }),
    { description: 'The log of requests with the user’s personal keys.' },
  ),
  noticesOff: Type.Array(Type.Object({ notice: Type.String(), switchedOffAt: time }), {
    description: 'The notices by mail that the user has switched off.',
  }),
  webhooks: Type.Array(
    Type.Object({
      id: Type.String(),
      organizationId: Type.String(),
      url: Type.String(),
      events: Type.Array(Type.String()),
      description: Type.String(),
      createdAt: time,
    }),
    { description: 'Those that the user created, of organizations in which they have MEMBER_MANAGE.' },
  ),
  orders: Type.Array(orderSchema, {
    description: 'Those that the user placed, of organizations in which they have BILLING_VIEW.',
  }),
  billingProfiles: Type.Array(
    Type.Object({ organizationId: Type.String(), ...billingProfileSchema.properties }),
    { description: 'Those of organizations in which the user has BILLING_VIEW.' },
  ),
  events: Type.Array(
    Type.Object({
      at: time,
      action: Type.String(),
      organizationId,
      subject: Type.String(),
      isOwn: Type.Boolean({ description: 'Whether the user did it; otherwise it was done to the user.' }),
      detail: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
      address: nullable(Type.String()),
    }),
  ),
})

/** Everything that the service stores about a user. */
export type PersonalData = Static<typeof personalDataSchema>
