import { type Static, Type } from 'typebox'
import { ADD_ONS } from '../add-ons.ts'
import { MEMBER_PERMISSIONS } from '../permissions.ts'
import { documentedAs, LINE_OF_100, nullable, oneOf, time } from './schema-parts.ts'

const permission = oneOf(MEMBER_PERMISSIONS)

export const memberPermissionsSchema = Type.Array(permission, { maxItems: 20 })

/** The name of an organization as the client requests it. */
export const organizationNameSchema = Type.String({
  maxLength: 400,
  description: '1 to 100 characters after trimming.',
  ...documentedAs({ pattern: LINE_OF_100 }),
})

/** A mail address as the client sends it; `normalEmail` in the server is the rule. */
export const emailSchema = Type.String({
  maxLength: 320,
  description: 'A mail address.',
  ...documentedAs({ format: 'email', maxLength: 254 }),
})

export const organizationSchema = Type.Object({
  id: Type.String(),
  name: Type.String(),
  addOns: Type.Array(oneOf(ADD_ONS)),
  credits: Type.Object({ balance: Type.Integer() }),
  permissions: Type.Array(permission, { description: 'The caller’s own.' }),
  createdAt: time,
  suspendedAt: nullable(
    Type.String({ format: 'date-time', description: 'Since when the operator refuses its keys.' }),
  ),
  publishing: Type.Boolean({ description: 'Whether the operator allows it to publish datasets.' }),
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

export const memberCreditLimitSchema = nullable(
  Type.Integer({
    minimum: 0,
    maximum: 1_000_000_000_000,
    description:
      'Credits that the member may spend in a month (UTC) with personal keys and in the console. Null: no limit.',
  }),
)

export const memberSchema = Type.Object({
  userId: Type.String(),
  email: Type.String(),
  permissions: Type.Array(permission),
  joinedAt: time,
  creditLimit: memberCreditLimitSchema,
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

export const invitationPreviewSchema = Type.Object({
  organizationName: Type.String(),
  invitedBy: Type.String({ description: 'The inviter’s mail address.' }),
  email: Type.String({ description: 'The invited mail address.' }),
  permissions: Type.Array(permission),
  expiresAt: time,
})

/** What an invitation offers to the person who has its link. */
export type InvitationPreview = Static<typeof invitationPreviewSchema>
