import { type Static, Type } from 'typebox'

export const fieldErrorSchema = Type.Object({
  path: Type.String({
    description: 'A JSON pointer into the body, or the name of the query parameter or header.',
  }),
  message: Type.String(),
})

/** One wrong value of a request. */
export type FieldError = Static<typeof fieldErrorSchema>

/** The body of every error (RFC 9457). A problem may have further members, such as `addOn`. */
export const problemSchema = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'The address of the problem’s page.' }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: 'A sentence for this case.' }),
    instance: Type.Optional(Type.String({ description: 'The path of the request.' })),
    code: Type.String({ description: 'The problem’s stable name, such as `add-on-missing`.' }),
    requestId: Type.String({ description: 'Name it when you ask the operator about the problem.' }),
    errors: Type.Optional(
      Type.Array(fieldErrorSchema, { description: 'For invalid input: each wrong value.' }),
    ),
    contact: Type.Optional(
      Type.String({ description: 'Where to ask for add-ons and credits, if the operator says so.' }),
    ),
  },
  { additionalProperties: true },
)

export type ProblemBody = Static<typeof problemSchema>
