import { eventSchema, pageSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { Authenticate } from '../access/authenticate.ts'
import type { ControlDatabase } from '../database/open.ts'
import { readEvents } from '../events/store.ts'
import type { App } from '../http/fastify-app.ts'
import { security, tags } from '../http/openapi.ts'
import { pageQuery, readPage } from '../http/schemas.ts'
import type { Organizations } from './organizations.ts'

export interface EventRoutesDeps {
  database: ControlDatabase
  organizations: Organizations
  authenticate: Authenticate
}

export function eventRoutes(app: App, { database, organizations, authenticate }: EventRoutesDeps): void {
  app.get('/v1/organization/:organizationId/events', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.organizations],
      security: security.token,
      summary: 'The audit events of an organization, newest first',
      description: 'Needs MEMBER_MANAGE.',
      params: Type.Object({ organizationId: Type.String() }),
      querystring: pageQuery,
      response: { 200: pageSchema(eventSchema) },
    },
    handler: async (request) => {
      const { organizationId } = request.params
      const { limit, before } = request.query
      await organizations.requireMember(authenticate.userOf(request).userId, organizationId, 'MEMBER_MANAGE')
      return readPage(limit, (rows) => readEvents(database.db, organizationId, { before, limit: rows }))
    },
  })
}
