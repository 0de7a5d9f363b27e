import {
  addOnsSchema,
  adminOrganizationSchema,
  documentedAs,
  keyListSchema,
  ledgerRowSchema,
  memberSchema,
  organizationNameSchema,
  organizationUsageSchema,
  pageSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import { pageQuery, readPage } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Ledger } from '../credits/ledger.ts'
import { ledgerFilterFields, ledgerFilterOf } from '../credits/routes.ts'
import { usageRangeQuery } from '../usage/routes.ts'
import type { UsageReports } from '../usage/usage-reports.ts'
import type { Administration } from './administration.ts'
import { operatorReason } from './operator-reason.ts'
import type { OrganizationAdministration } from './organization-administration.ts'

export interface OrganizationRoutesDeps {
  administration: Administration
  organizationAdministration: OrganizationAdministration
  usageReports: UsageReports
  ledger: Ledger
  authenticate: Authenticate
}

const documented = { tags: [tags.administration], security: security.administrator }
const params = Type.Object({ organizationId: Type.String() })
const publishing = Type.Boolean({ description: 'Whether it may publish datasets.' })

/** One organization, for platform administrators: what it has and did, and what can be done to it. */
export function organizationAdministrationRoutes(app: App, deps: OrganizationRoutesDeps): void {
  recordRoutes(app, deps)
  suspensionRoutes(app, deps)
  reportRoutes(app, deps)
}

function recordRoutes(
  app: App,
  { administration, organizationAdministration: organizations, authenticate }: OrganizationRoutesDeps,
): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/organizations/:organizationId', {
    onRequest,
    schema: {
      ...documented,
      summary: 'An organization',
      params,
      response: { 200: adminOrganizationSchema },
    },
    handler: ({ params }) => organizations.find(params.organizationId),
  })

  app.patch('/v1/admin/organizations/:organizationId', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Rename an organization, set its add-ons, or allow it to publish',
      params,
      body: Type.Partial(Type.Object({ name: organizationNameSchema, addOns: addOnsSchema, publishing }), {
        additionalProperties: false,
        minProperties: 1,
        ...documentedAs({ minProperties: 1 }),
      }),
      response: { 200: adminOrganizationSchema },
    },
    handler: async (request) => {
      const { organizationId } = request.params
      const { name, addOns, publishing: isAllowed } = request.body
      const origin = authenticate.originOf(request)
      if (name !== undefined) await organizations.rename(origin, organizationId, name)
      if (isAllowed !== undefined) await organizations.setPublishing(origin, organizationId, isAllowed)
      if (addOns === undefined) return organizations.find(organizationId)
      return administration.setAddOns(origin, organizationId, () => addOns)
    },
  })

  app.delete('/v1/admin/organizations/:organizationId', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Delete an organization',
      description:
        'Its members leave it, and all its keys are revoked. The ledger and the audit log stay, without its name.',
      params,
      response: { 204: Type.Unsafe<undefined>({ description: 'Deleted.' }) },
    },
    handler: async (request, reply) => {
      await organizations.delete(authenticate.originOf(request), request.params.organizationId)
      return reply.code(204).send(undefined)
    },
  })
}

function suspensionRoutes(
  app: App,
  { organizationAdministration: organizations, authenticate }: OrganizationRoutesDeps,
): void {
  const onRequest = authenticate.administrator

  app.post('/v1/admin/organizations/:organizationId/suspend', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Suspend an organization',
      description: 'Its keys and the personal keys of its members are refused until it is resumed.',
      params,
      body: Type.Object({ reason: operatorReason }, { additionalProperties: false }),
      response: { 200: adminOrganizationSchema },
    },
    handler: (request) =>
      organizations.suspend(
        authenticate.originOf(request),
        request.params.organizationId,
        request.body.reason,
      ),
  })

  app.post('/v1/admin/organizations/:organizationId/resume', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'End the suspension of an organization',
      params,
      response: { 200: adminOrganizationSchema },
    },
    handler: (request) => organizations.resume(authenticate.originOf(request), request.params.organizationId),
  })
}

function reportRoutes(
  app: App,
  { organizationAdministration: organizations, usageReports, ledger, authenticate }: OrganizationRoutesDeps,
): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/organizations/:organizationId/members', {
    onRequest,
    schema: {
      ...documented,
      summary: 'The members of an organization',
      params,
      response: { 200: Type.Object({ data: Type.Array(memberSchema) }) },
    },
    handler: async ({ params }) => ({ data: await organizations.members(params.organizationId) }),
  })

  app.get('/v1/admin/organizations/:organizationId/keys', {
    onRequest,
    schema: {
      ...documented,
      summary: 'The keys of an organization and of its members, newest first',
      description: 'At most 1000.',
      params,
      response: { 200: keyListSchema },
    },
    handler: async ({ params }) => ({ data: await organizations.keys(params.organizationId) }),
  })

  app.get('/v1/admin/organizations/:organizationId/usage', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Calls and credits of an organization',
      params,
      querystring: usageRangeQuery,
      response: { 200: organizationUsageSchema },
    },
    handler: async ({ params, query }) => {
      const { id } = await organizations.find(params.organizationId)
      return usageReports.forOperator(id, query)
    },
  })

  app.get('/v1/admin/organizations/:organizationId/ledger', {
    onRequest,
    schema: {
      ...documented,
      summary: 'All credits granted to and spent by an organization, newest first',
      params,
      querystring: Type.Object(
        { ...pageQuery.properties, ...ledgerFilterFields },
        { additionalProperties: false },
      ),
      response: { 200: pageSchema(ledgerRowSchema) },
    },
    handler: async ({ params, query: { limit: pageLimit, before, ...filter } }) => {
      const { id } = await organizations.find(params.organizationId)
      return readPage(pageLimit, (limit) =>
        ledger.forOperator(id, { ...ledgerFilterOf(filter), before, limit }),
      )
    },
  })
}
