import { type Static, Type } from 'typebox'
import { ADD_ONS } from '../add-ons.ts'
import { documentedAs, NO_NUL, nullable, oneOf, time } from './schema-parts.ts'

export const ACCESS_REQUEST_STATES = ['open', 'granted', 'declined'] as const
/** Far above what a person types. */
const MAX_REQUEST_CREDITS = 1_000_000_000

const addOns = Type.Array(oneOf(ADD_ONS), { maxItems: 10 })
const credits = Type.Integer({ minimum: 0, maximum: MAX_REQUEST_CREDITS })
const text = (description: string) => Type.String({ maxLength: 1000, pattern: NO_NUL, description })

export const newAccessRequestSchema = Type.Object(
  {
    addOns: Type.Optional(addOns),
    credits: Type.Optional(credits),
    message: Type.Optional(text('What the access is needed for.')),
  },
  {
    additionalProperties: false,
    ...documentedAs({
      anyOf: [
        { properties: { addOns: { minItems: 1 } }, required: ['addOns'] },
        { properties: { credits: { minimum: 1 } }, required: ['credits'] },
      ],
    }),
  },
)

/** What a member asks the operator for. */
export type NewAccessRequest = Static<typeof newAccessRequestSchema>

export const accessRequestSchema = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  organizationName: Type.String(),
  requestedBy: Type.String({ description: 'The mail address of the member who asked.' }),
  addOns: Type.Array(oneOf(ADD_ONS)),
  credits: Type.Integer(),
  message: Type.String(),
  state: oneOf(ACCESS_REQUEST_STATES),
  note: Type.String({ description: 'What the operator said when they decided.' }),
  createdAt: time,
  decidedAt: nullable(time),
})

export type AccessRequest = Static<typeof accessRequestSchema>

export const grantAccessSchema = Type.Object(
  {
    addOns: Type.Optional(addOns),
    credits: Type.Optional(credits),
    note: Type.Optional(text('A sentence for the member who asked.')),
  },
  { additionalProperties: false },
)

export const declineAccessSchema = Type.Object(
  { note: Type.Optional(text('The reason, for the member who asked.')) },
  { additionalProperties: false },
)
