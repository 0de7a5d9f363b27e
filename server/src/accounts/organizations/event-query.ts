import { NO_NUL } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { EventFilter } from '../../base/events/store.ts'
import { pageQuery, storedTime } from '../../http/schemas.ts'

export const eventFilterFields = {
  q: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: NO_NUL,
      description:
        'Words that the event has, in any case, in what you see of its kind, its actor, its subject or its address. The actor and the subject have ids and names: mail addresses, names of keys and organizations, tables.',
    }),
  ),
  kind: Type.Optional(
    Type.String({
      pattern: '^[a-z-]{1,40}(\\.[a-z-]{1,40})?$',
      description: 'An action (`key.revoked`), or all that begin alike (`key`).',
    }),
  ),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'At this time or after it.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Before this time.' })),
  userId: Type.Optional(Type.String({ pattern: '^\\w{1,40}$', description: 'Done by or to this user.' })),
  keyId: Type.Optional(Type.String({ pattern: '^\\w{1,40}$', description: 'Done by or to this key.' })),
}

/** The query parameters of the audit log of the whole service. */
export const eventQuery = Type.Object(
  {
    ...pageQuery.properties,
    ...eventFilterFields,
    organizationId: Type.Optional(Type.String({ pattern: '^\\w{1,40}$' })),
  },
  { additionalProperties: false },
)

type QueryFilter = Pick<EventFilter, 'kind' | 'since' | 'until' | 'userId' | 'keyId' | 'organizationId'>

/** The filter of a query, with its times as they are stored. */
export function eventFilterOf({
  kind,
  since,
  until,
  userId,
  keyId,
  organizationId,
}: QueryFilter): QueryFilter {
  return {
    kind,
    since: storedTime('since', since),
    until: storedTime('until', until),
    userId,
    keyId,
    organizationId,
  }
}
