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
})

/** An organization as the operator sees it. */
export type AdminOrganization = Static<typeof adminOrganizationSchema>

export const adminUserSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  organizationId: nullable(Type.String()),
  organizationName: nullable(Type.String()),
  permissions: Type.Array(Type.String()),
  createdAt: time,
  lastSignInAt: nullable(time),
})

/** A user as the operator sees them. */
export type AdminUser = Static<typeof adminUserSchema>
