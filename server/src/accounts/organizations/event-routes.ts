import { type EventRecord, eventSchema, pageSchema } from '@wayleave/contract/records'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { EventFilter } from '../../base/events/store.ts'
import { csvResponse, sendCsv } from '../../http/csv-response.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { pageQuery, readPage } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { readMembers } from '../access/membership-store.ts'
import { readKeyOrganizations } from '../keys/party-name-store.ts'
import { eventFilterFields, eventFilterOf } from './event-query.ts'
import { searchEvents } from './event-search.ts'
import { readNamedEvents } from './named-events.ts'
import type { Organizations } from './organizations.ts'

export interface EventRoutesDeps {
  database: ControlDatabase
  organizations: Organizations
  authenticate: Authenticate
  config: { admins: readonly string[] }
}

/** The members of an organization need not know which people of the operator, or of a publisher, granted something. */
const OPERATOR = 'The operator'
const PUBLISHER = 'The publisher'

/** Events whose `reason` an operator wrote for other operators. */
const WITH_OPERATOR_REASON: ReadonlySet<string> = new Set(['user.blocked', 'organization.suspended'])

const documented = { tags: [tags.organizations], security: security.token }
const params = Type.Object({ organizationId: Type.String() })
const filterQuery = Type.Object(eventFilterFields, { additionalProperties: false })
const filteredPage = Type.Object(
  { ...pageQuery.properties, ...eventFilterFields },
  { additionalProperties: false },
)

export function eventRoutes(
  app: App,
  { database, organizations, authenticate, config }: EventRoutesDeps,
): void {
  const administrators = new Set(config.admins)

  const read = async (organizationId: string, members: ReadonlySet<string>, filter: EventFilter) => {
    const events = await readNamedEvents(database.db, { ...filter, organizationId })
    const actors = events.map(({ actor }) => actor)
    const ownersOfKeys = await readKeyOrganizations(database.db, actors)
    /** Who is shown in place of an actor of another organization; null for all others. */
    const otherOf = ({ actor, actorName, action }: EventRecord) => {
      const owner = ownersOfKeys.get(actor)
      if (members.has(actorName ?? '') || owner === organizationId) return null
      // A key of which nothing is known any more was not this organization's, as far as anybody can tell.
      const isForeignKey = actor.startsWith('key:') && (owner ?? null) === null
      if (administrators.has(actorName ?? '') || isForeignKey) return OPERATOR
      // Of all events of an organization, these only are another one's doing.
      return action.startsWith('dataset.access-') && /^(user|key):/.test(actor) ? PUBLISHER : null
    }
    return events.map(({ organizationId: _, ...event }) => {
      const other = otherOf(event)
      const shown = { ...event, detail: detailForMembers(event) }
      return other === null ? shown : { ...shown, actorName: other, address: null }
    })
  }
  const search = async (
    organizationId: string,
    { raw }: FastifyReply,
    text: string | undefined,
    filter: EventFilter,
  ) => {
    const { db } = database
    const members = new Set((await readMembers(db, organizationId)).map(({ email }) => email))
    return searchEvents({
      db,
      text,
      filter: { ...filter, organizationId },
      read: (part) => read(organizationId, members, part),
      hasLeft: () => raw.destroyed,
    })
  }
  const requireManager = (request: Parameters<Authenticate['userOf']>[0], organizationId: string) =>
    organizations.requireMember(authenticate.userOf(request), organizationId, 'MEMBER_MANAGE')

  app.get('/v1/organization/:organizationId/events', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'The audit events of an organization, newest first',
      description: 'Needs MEMBER_MANAGE.',
      params,
      querystring: filteredPage,
      response: { 200: pageSchema(eventSchema) },
    },
    handler: async (request, reply) => {
      const { organizationId } = request.params
      const { limit: pageLimit, before, ...filter } = request.query
      await requireManager(request, organizationId)
      return readPage(pageLimit, (limit) =>
        search(organizationId, reply, filter.q, { ...eventFilterOf(filter), before, limit }),
      )
    },
  })

  app.get('/v1/organization/:organizationId/events.csv', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'The audit events of an organization as a CSV file',
      description: 'Needs MEMBER_MANAGE.',
      documented: csvResponse,
      params,
      querystring: filterQuery,
    },
    handler: async (request, reply) => {
      const { organizationId } = request.params
      await requireManager(request, organizationId)
      const filter = eventFilterOf(request.query)
      return sendCsv<EventRecord>(reply, {
        name: 'events.csv',
        heads: ['id', 'at', 'action', 'actor', 'actorName', 'subject', 'subjectName', 'detail', 'address'],
        cells: ({ id, at, action, actor, actorName, subject, subjectName, detail, address }) => [
          id,
          at,
          action,
          actor,
          actorName,
          subject,
          subjectName,
          JSON.stringify(detail),
          address,
        ],
        read: (page) => search(organizationId, reply, request.query.q, { ...filter, ...page }),
      })
    },
  })
}

function detailForMembers({ action, detail }: EventRecord): EventRecord['detail'] {
  if (!WITH_OPERATOR_REASON.has(action)) return detail
  const { reason: _, ...rest } = detail
  return rest
}
