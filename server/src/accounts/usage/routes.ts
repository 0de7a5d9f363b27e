import {
  documentedAs,
  keyUsageSchema,
  organizationUsageSchema,
  publishedUsageSchema,
} from '@wayleave/contract/records'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { csvResponse, sendCsvRows } from '../../http/csv-response.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { KeyActor } from '../keys/key-access.ts'
import type { NamedUsageRow, UsageReports } from './usage-reports.ts'

export interface UsageRoutesDeps {
  usageReports: UsageReports
  authenticate: Authenticate
}

/** The query parameters of usage reports. */
export const usageRangeQuery = Type.Object(
  {
    startDate: Type.Optional(
      Type.String({
        description: 'The first day, in UTC. Without it, 30 days end at endDate.',
        ...documentedAs({ format: 'date' }),
      }),
    ),
    endDate: Type.Optional(
      Type.String({
        description: 'The last day, included. Without it, today. At most 366 days in all.',
        ...documentedAs({ format: 'date' }),
      }),
    ),
  },
  { additionalProperties: false },
)

/** Reports of calls and credits, by key and for a whole organization. */
export function usageRoutes(app: App, { usageReports, authenticate }: UsageRoutesDeps): void {
  publishedUsageRoute(app, { usageReports, authenticate })
  keyUsageRoute(app, {
    usageReports,
    path: '/v1/api-keys/:keyId/usage',
    tag: tags.keys,
    security: security.token,
    onRequest: authenticate.user,
    actorOf: (request) => ({ reach: 'own', ...authenticate.userOf(request) }),
  })

  organizationUsageRoutes(app, { usageReports, authenticate })
}

/** Restricts the report of an organization to the calls with a key, and to those of a dataset. */
const organizationUsageQuery = Type.Object(
  {
    ...usageRangeQuery.properties,
    keyId: Type.Optional(Type.String({ description: 'Only the calls with this key.' })),
    table: Type.Optional(Type.String({ description: 'Only the calls for this dataset.' })),
  },
  { additionalProperties: false },
)

/** The report that members with BILLING_VIEW see, and the rows that it adds up. */
function organizationUsageRoutes(app: App, { usageReports, authenticate }: UsageRoutesDeps): void {
  const documented = { tags: [tags.organizations], security: security.token }
  const params = Type.Object({ organizationId: Type.String() })

  app.get('/v1/organization/:organizationId/usage', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'Calls and credits of an organization, by day, operation, key and dataset',
      description: 'Needs BILLING_VIEW. Includes the calls of deleted keys.',
      params,
      querystring: organizationUsageQuery,
      response: { 200: organizationUsageSchema },
    },
    handler: (request) => {
      const caller = authenticate.userOf(request)
      return usageReports.ofOrganization(caller, request.params.organizationId, request.query)
    },
  })

  app.get('/v1/organization/:organizationId/usage.csv', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'The calls and credits of an organization as a CSV file',
      description:
        'Needs BILLING_VIEW. A row for each day, caller, operation, dataset and format; `member` is the user of calls in the console.',
      documented: csvResponse,
      params,
      querystring: organizationUsageQuery,
    },
    handler: async (request, reply) => {
      const caller = authenticate.userOf(request)
      const { organizationId } = request.params
      const rows = await usageReports.rowsOfOrganization(caller, organizationId, request.query)
      return sendCsvRows(reply, USAGE_FILE, rows)
    },
  })
}

const USAGE_FILE = {
  name: 'usage.csv',
  heads: ['date', 'keyId', 'keyName', 'member', 'operation', 'table', 'format', 'calls', 'credits'],
  cells: (row: NamedUsageRow) => [
    ...[row.date, row.keyId, row.keyName, row.member],
    ...[row.operation, row.table_name || null, row.format || null, row.calls, row.credits],
  ],
}

/** What a publisher sees of the use of its datasets. */
function publishedUsageRoute(app: App, { usageReports, authenticate }: UsageRoutesDeps): void {
  app.get('/v1/organization/:organizationId/datasets/usage', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.publishing],
      security: security.token,
      summary: 'Calls and earned credits of the datasets that an organization owns',
      description: 'By all callers, by day, operation and dataset. Needs DATASET_PUBLISH.',
      params: Type.Object({ organizationId: Type.String() }),
      querystring: usageRangeQuery,
      response: { 200: publishedUsageSchema },
    },
    handler: (request) => {
      const caller = authenticate.userOf(request)
      return usageReports.ofOwnedDatasets(caller, request.params.organizationId, request.query)
    },
  })
}

export interface KeyUsagePath {
  usageReports: UsageReports
  path: string
  tag: string
  security: typeof security.administrator
  onRequest: Authenticate['user']
  actorOf: (request: FastifyRequest) => KeyActor
}

/** The same for an account's keys and, under another path, for the platform's. */
export function keyUsageRoute(
  app: App,
  { usageReports, path, tag, security, onRequest, actorOf }: KeyUsagePath,
): void {
  app.get(path, {
    onRequest,
    schema: {
      tags: [tag],
      security,
      summary: 'Calls and credits of a key, by day and operation',
      description: 'Includes every call that finished more than a second ago.',
      params: Type.Object({ keyId: Type.String() }),
      querystring: usageRangeQuery,
      response: { 200: keyUsageSchema },
    },
    handler: (request) => usageReports.ofKey(actorOf(request), request.params.keyId, request.query),
  })
}
