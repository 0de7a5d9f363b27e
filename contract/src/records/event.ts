import { type Static, Type } from 'typebox'
import { nullable, time } from './schema-parts.ts'

export const eventSchema = Type.Object({
  id: Type.Integer(),
  at: time,
  actor: Type.String({ description: 'Who: `user:<id>`, `key:<id>`, `operator` or `system`.' }),
  actorName: nullable(
    Type.String({ description: 'The mail address of the user, or the name of the key, that did it.' }),
  ),
  action: Type.String({ description: 'What, such as `key.created` or `member.removed`.' }),
  subject: Type.String({ description: 'To what, such as `key:<id>` or `user:<id>`.' }),
  subjectName: nullable(
    Type.String({ description: 'The mail address or name of what it was done to; null if it has none.' }),
  ),
  detail: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    properties: {},
    additionalProperties: true,
  }),
  address: nullable(Type.String({ description: 'The network address it came from.' })),
  requestId: nullable(Type.String()),
})

export const adminEventSchema = Type.Object({
  ...eventSchema.properties,
  organizationId: nullable(Type.String({ description: 'Null for an event of the platform.' })),
})

/** A row of the audit log, as the operator sees it. */
export type AdminEvent = Static<typeof adminEventSchema>

/** A row of the audit log. */
export type EventRecord = Static<typeof eventSchema>
