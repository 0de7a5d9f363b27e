import { createdKeySchema, keyChangeSchema, keyListSchema, newKeySchema } from '@wayleave/contract/records'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { keyPathRoutes } from './key-path-routes.ts'
import type { Keys } from './keys.ts'

export interface KeyRoutesDeps {
  keys: Keys
  authenticate: Authenticate
}

const documented = { tags: [tags.keys], security: security.token }
const organizationPath = Type.Object({ organizationId: Type.String() })

/** Personal and organization keys, managed by a signed-in user. */
export function keyRoutes(app: App, { keys, authenticate }: KeyRoutesDeps): void {
  const onRequest = authenticate.user
  const callerOf = (request: FastifyRequest) => authenticate.userOf(request)

  app.get('/v1/api-keys/my-keys', {
    onRequest,
    schema: {
      ...documented,
      summary: 'The caller’s personal keys',
      response: { 200: keyListSchema },
    },
    handler: async (request) => ({ data: await keys.listPersonal(callerOf(request)) }),
  })

  app.get('/v1/api-keys/accessible', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Every key the caller can see',
      description: 'The caller’s personal keys, and the organization’s if the caller has APIKEY_VIEW.',
      response: { 200: keyListSchema },
    },
    handler: async (request) => ({ data: await keys.listAccessible(callerOf(request)) }),
  })

  app.post('/v1/api-keys/personal', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Create a personal key',
      problems: ['key-limit-reached', 'conflict'],
      description: 'The response contains the secret, only this once.',
      body: newKeySchema,
      response: { 201: createdKeySchema },
    },
    handler: async (request, reply) => {
      const created = await keys.createPersonal(callerOf(request), request.body)
      return reply.code(201).header('location', `/v1/api-keys/${created.id}`).send(created)
    },
  })

  app.get('/v1/api-keys/organization/:organizationId', {
    onRequest,
    schema: {
      ...documented,
      summary: 'An organization’s keys',
      description: 'Needs APIKEY_VIEW.',
      params: organizationPath,
      response: { 200: keyListSchema },
    },
    handler: async (request) => ({
      data: await keys.listForOrganization(callerOf(request), request.params.organizationId),
    }),
  })

  app.post('/v1/api-keys/organization/:organizationId', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Create an organization key',
      problems: ['key-limit-reached'],
      description: 'Needs APIKEY_CREATE. The response contains the secret, only this once.',
      params: organizationPath,
      body: newKeySchema,
      response: { 201: createdKeySchema },
    },
    handler: async (request, reply) => {
      const { organizationId } = request.params
      const created = await keys.createForOrganization(callerOf(request), organizationId, request.body)
      return reply.code(201).header('location', `/v1/api-keys/${created.id}`).send(created)
    },
  })

  app.post('/v1/auth/session-key', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'A personal key that reads for 15 minutes',
      problems: ['conflict'],
      description:
        'For a page’s own map and downloads: it ends with the session, is in no list, not counted against the limit of keys, charged and metered like any key.',
      response: { 201: createdKeySchema },
    },
    handler: async (request, reply) => reply.code(201).send(await keys.createSession(callerOf(request))),
  })

  keyPathRoutes(app, {
    keys,
    path: '/v1/api-keys/:keyId',
    tag: tags.keys,
    changeSchema: keyChangeSchema,
    security: security.token,
    onRequest,
    actorOf: (request) => ({ reach: 'own', ...callerOf(request) }),
  })
}
