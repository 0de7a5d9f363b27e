import { type Static, Type } from 'typebox'
import { ADD_ONS } from '../add-ons.ts'
import { MEMBER_PERMISSIONS } from '../permissions.ts'
import { nullable, oneOf, time } from './schema-parts.ts'

const permission = oneOf(MEMBER_PERMISSIONS)

export const memberPermissionsSchema = Type.Array(permission, { maxItems: 20 })

export const organizationSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  addOns: Type.Array(oneOf(ADD_ONS)),
  credits: Type.Object({ balance: Type.Integer() }),
  permissions: Type.Array(permission, { description: 'The caller’s own.' }),
  createdAt: time,
})

/** An organization as its members see it. */
export type OrganizationRecord = Static<typeof organizationSchema>

export const meSchema = Type.Object({
  user: Type.Object({ id: Type.String(), email: Type.String(), createdAt: Type.String() }),
  administrator: Type.Boolean(),
  organization: nullable(organizationSchema),
})

/** The signed-in user. */
export type Me = Static<typeof meSchema>

export const memberSchema = Type.Object({
  userId: Type.String(),
  email: Type.String(),
  permissions: Type.Array(permission),
  joinedAt: time,
})

export type Member = Static<typeof memberSchema>

export const invitationSchema = Type.Object({
  id: Type.String(),
  email: Type.String(),
  permissions: Type.Array(permission),
  invitedBy: Type.String({ description: 'The inviter’s user id.' }),
  createdAt: time,
  expiresAt: time,
})

/** An invitation that can still be accepted. */
export type InvitationRecord = Static<typeof invitationSchema>
