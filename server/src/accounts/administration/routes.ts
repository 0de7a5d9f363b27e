import {
  adminOrganizationSchema,
  adminUserSchema,
  createdKeySchema,
  documentedAs,
  keyListSchema,
  newPlatformKeySchema,
  organizationNameSchema,
  pageByIdSchema,
  platformKeyChangeSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import { invalidInput } from '../../base/problem.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { readPage } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { MAX_CREDITS } from '../credits/ledger.ts'
import { keyPathRoutes } from '../keys/key-path-routes.ts'
import type { Keys } from '../keys/keys.ts'
import { keyUsageRoute } from '../usage/routes.ts'
import type { UsageReports } from '../usage/usage-reports.ts'
import type { Administration } from './administration.ts'

export interface AdministrationRoutesDeps {
  administration: Administration
  keys: Keys
  usageReports: UsageReports
  authenticate: Authenticate
}

const documented = { tags: [tags.administration], security: security.administrator }
const listing = Type.Object(
  {
    search: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[^\\x00]*$',
        description: 'A part of the name, mail address or id.',
      }),
    ),
    limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows a page.' }),
    after: Type.Optional(
      Type.String({ pattern: '^[0-9A-Za-z_]{1,40}$', description: 'The `next` of the page before.' }),
    ),
  },
  { additionalProperties: false },
)

/** Routes for platform administrators: what the operator can do on the command line, over HTTP. */
export function administrationRoutes(app: App, deps: AdministrationRoutesDeps): void {
  const { administration, authenticate } = deps
  const onRequest = authenticate.administrator
  const organizationPath = Type.Object({ organizationId: Type.String() })

  app.get('/v1/admin/organizations', {
    onRequest,
    schema: {
      ...documented,
      summary: 'All organizations',
      querystring: listing,
      response: { 200: pageByIdSchema(adminOrganizationSchema) },
    },
    handler: ({ query }) =>
      readPage(query.limit, (limit) => administration.organizations({ ...query, limit })),
  })

  app.post('/v1/admin/organizations', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Create an organization without members',
      description: 'It begins with the add-ons and credits that the settings give to new organizations.',
      body: Type.Object({ name: organizationNameSchema }, { additionalProperties: false }),
      response: { 201: adminOrganizationSchema },
    },
    handler: async (request, reply) => {
      const origin = authenticate.originOf(request)
      return reply.code(201).send(await administration.createOrganization(origin, request.body.name))
    },
  })

  app.post('/v1/admin/organizations/:organizationId/credits', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Add credits, or set the balance',
      description: 'Exactly one of `add` and `set`.',
      params: organizationPath,
      body: Type.Object(
        {
          add: Type.Optional(Type.Integer(documentedAs({ minimum: 1, maximum: MAX_CREDITS }))),
          set: Type.Optional(Type.Integer(documentedAs({ minimum: 0, maximum: MAX_CREDITS }))),
        },
        { additionalProperties: false, ...documentedAs({ minProperties: 1, maxProperties: 1 }) },
      ),
      response: { 200: adminOrganizationSchema },
    },
    handler: (request) => {
      const origin = authenticate.originOf(request)
      return administration.setCredits(origin, request.params.organizationId, oneOf(request.body))
    },
  })

  app.get('/v1/admin/users', {
    onRequest,
    schema: {
      ...documented,
      summary: 'All users',
      querystring: listing,
      response: { 200: pageByIdSchema(adminUserSchema) },
    },
    handler: ({ query }) => readPage(query.limit, (limit) => administration.users({ ...query, limit })),
  })

  platformKeyRoutes(app, deps)
}

function platformKeyRoutes(app: App, { keys, usageReports, authenticate }: AdministrationRoutesDeps): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/keys', {
    onRequest,
    schema: { ...documented, summary: 'The platform’s keys', response: { 200: keyListSchema } },
    handler: async () => ({ data: await keys.listPlatform() }),
  })

  app.post('/v1/admin/keys', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Create a platform key',
      description:
        'It needs no add-on and no credits; with `write` it publishes, with `admin` it can use these routes. The secret is shown once.',
      body: newPlatformKeySchema,
      response: { 201: createdKeySchema },
    },
    handler: async (request, reply) => {
      const created = await keys.createPlatform(authenticate.originOf(request), request.body)
      return reply.code(201).header('location', `/v1/admin/keys/${created.id}`).send(created)
    },
  })

  const platformKey = {
    tag: tags.administration,
    security: security.administrator,
    onRequest,
    actorOf: (request: Parameters<Authenticate['originOf']>[0]) => ({
      reach: 'platform' as const,
      origin: authenticate.originOf(request),
    }),
  }
  keyPathRoutes(app, {
    keys,
    path: '/v1/admin/keys/:keyId',
    changeSchema: platformKeyChangeSchema,
    ...platformKey,
  })
  keyUsageRoute(app, { usageReports, path: '/v1/admin/keys/:keyId/usage', ...platformKey })
}

function oneOf({ add, set }: { add?: number; set?: number }): { add: number } | { set: number } {
  if (add !== undefined && set === undefined) return { add }
  if (set !== undefined && add === undefined) return { set }
  throw invalidInput('body', 'must have exactly one of add and set')
}
