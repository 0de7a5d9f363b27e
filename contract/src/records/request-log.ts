import { type Static, Type } from 'typebox'
import { nullable, time } from './schema-parts.ts'

export const loggedRequestSchema = Type.Object({
  id: Type.Integer(),
  at: time,
  operation: Type.String({ description: 'Such as `items`, `tiles`, `download` or `metadata`.' }),
  table: nullable(Type.String({ description: 'Null for a request without a dataset.' })),
  status: Type.Integer(),
  milliseconds: Type.Integer({ description: 'From the request to the end of the response.' }),
  bytes: nullable(Type.Integer({ description: 'The length of the body; null if it was not stated.' })),
  credits: Type.Integer(),
  weight: Type.Integer({
    description:
      'How many requests the row stands for: more than 1 if a key sends so many that only some are kept.',
  }),
})

/** A request of a key in the last days. */
export type LoggedKeyRequest = Static<typeof loggedRequestSchema>
