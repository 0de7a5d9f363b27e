import { type LoggedKeyRequest, loggedRequestSchema, pageSchema } from '@wayleave/contract/records'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { csvResponse, sendCsv } from '../../http/csv-response.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { pageQuery, readPage, storedTime } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { KeyActor } from '../keys/key-access.ts'
import type { KeyRequests } from './key-requests.ts'
import type { RequestFilter } from './store.ts'

export interface KeyRequestRoutesDeps {
  keyRequests: KeyRequests
  authenticate: Authenticate
}

interface KeyRequestPath {
  keyRequests: KeyRequests
  path: string
  tag: string
  security: typeof security.administrator
  onRequest: Authenticate['user']
  actorOf: (request: FastifyRequest) => KeyActor
}

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))
const filterFields = {
  operation: Type.Optional(Type.String({ pattern: '^[a-z]{1,20}$', description: 'Such as `items`.' })),
  table: Type.Optional(Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' })),
  status: Type.Optional(
    Type.String({ pattern: '^[1-5]([0-9][0-9]|xx)$', description: 'A status such as `404`, or `4xx`.' }),
  ),
  since: time('At or after this time.'),
  until: time('Before this time.'),
}
const filterQuery = Type.Object(filterFields, { additionalProperties: false })
const params = Type.Object({ keyId: Type.String() })
const DESCRIPTION =
  'Of the last 7 days, unless the operator set another time. Above 60 requests a minute only one of 64 is recorded, with its `weight`. Requests appear after about a second; query strings are not recorded.'

/** The single requests of an account's keys and, under another path, of the platform's. */
export function keyRequestRoutes(app: App, { keyRequests, authenticate }: KeyRequestRoutesDeps): void {
  requestRoutes(app, {
    keyRequests,
    path: '/v1/api-keys/:keyId/requests',
    tag: tags.keys,
    security: security.token,
    onRequest: authenticate.user,
    actorOf: (request) => ({ reach: 'own', ...authenticate.userOf(request) }),
  })
  requestRoutes(app, {
    keyRequests,
    path: '/v1/admin/keys/:keyId/requests',
    tag: tags.administration,
    security: security.administrator,
    onRequest: authenticate.administrator,
    actorOf: (request) => ({ reach: 'platform', origin: authenticate.originOf(request) }),
  })
}

function requestRoutes(
  app: App,
  { keyRequests, path, tag, security, onRequest, actorOf }: KeyRequestPath,
): void {
  const documented = { tags: [tag], security, params, description: DESCRIPTION }

  app.get(path, {
    onRequest,
    schema: {
      ...documented,
      summary: 'The requests of a key, newest first',
      querystring: Type.Object({ ...pageQuery.properties, ...filterFields }, { additionalProperties: false }),
      response: { 200: pageSchema(loggedRequestSchema) },
    },
    handler: (request) => {
      const { limit: pageLimit, before, ...filter } = request.query
      return readPage(pageLimit, (limit) =>
        keyRequests.list(actorOf(request), request.params.keyId, { ...filterOf(filter), before, limit }),
      )
    },
  })

  app.get(`${path}.csv`, {
    onRequest,
    schema: {
      ...documented,
      summary: 'The requests of a key as a CSV file',
      documented: csvResponse,
      querystring: filterQuery,
    },
    handler: (request, reply) => {
      const actor = actorOf(request)
      const { keyId } = request.params
      const filter = filterOf(request.query)
      return sendCsv<LoggedKeyRequest>(reply, {
        name: 'requests.csv',
        heads: ['at', 'operation', 'table', 'status', 'milliseconds', 'bytes', 'credits', 'weight'],
        cells: ({ at, operation, table, status, milliseconds, bytes, credits, weight }) => [
          ...[at, operation, table, status],
          ...[milliseconds, bytes, credits, weight],
        ],
        read: (page) => keyRequests.list(actor, keyId, { ...filter, ...page }),
      })
    },
  })
}

function filterOf({
  status,
  since,
  until,
  ...rest
}: Static<typeof filterQuery>): Omit<RequestFilter, 'limit'> {
  return {
    ...rest,
    status: status === undefined ? undefined : statusRange(status),
    since: storedTime('since', since),
    until: storedTime('until', until),
  }
}

function statusRange(status: string): [number, number] {
  return status.endsWith('xx')
    ? [Number(status[0]) * 100, Number(status[0]) * 100 + 99]
    : [Number(status), Number(status)]
}
