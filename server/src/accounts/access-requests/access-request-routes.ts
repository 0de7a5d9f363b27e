import {
  ACCESS_REQUEST_STATES,
  accessRequestSchema,
  declineAccessSchema,
  grantAccessSchema,
  newAccessRequestSchema,
  pageByIdSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import { readPage } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { AccessRequests } from './access-requests.ts'

export interface AccessRequestRoutesDeps {
  accessRequests: AccessRequests
  authenticate: Authenticate
}

const organizationPath = Type.Object({ organizationId: Type.String() })
const requestPath = Type.Object({ requestId: Type.String() })

/** Requests for add-ons and credits: for members, and the inbox of platform administrators. */
export function accessRequestRoutes(
  app: App,
  { accessRequests, authenticate }: AccessRequestRoutesDeps,
): void {
  const ofMembers = { tags: [tags.organizations], security: security.token }
  const ofOperators = { tags: [tags.administration], security: security.administrator }
  const originOf = (request: Parameters<Authenticate['originOf']>[0]) => authenticate.originOf(request)

  app.get('/v1/organization/:organizationId/access-requests', {
    onRequest: authenticate.user,
    schema: {
      ...ofMembers,
      summary: 'What members asked the operator for, newest first',
      params: organizationPath,
      response: { 200: Type.Object({ data: Type.Array(accessRequestSchema) }) },
    },
    handler: async (request) => ({
      data: await accessRequests.list(authenticate.userOf(request), request.params.organizationId),
    }),
  })

  app.post('/v1/organization/:organizationId/access-requests', {
    onRequest: authenticate.user,
    schema: {
      ...ofMembers,
      problems: ['conflict'],
      summary: 'Ask the operator for add-ons or credits',
      description:
        'Mails the operator. 409 while an earlier request of the organization is open. The member who asked gets a mail when the operator has decided.',
      params: organizationPath,
      body: newAccessRequestSchema,
      response: { 201: accessRequestSchema },
    },
    handler: async (request, reply) => {
      const caller = authenticate.userOf(request)
      const { organizationId } = request.params
      return reply.code(201).send(await accessRequests.create(caller, organizationId, request.body))
    },
  })

  app.get('/v1/admin/access-requests', {
    onRequest: authenticate.administrator,
    schema: {
      ...ofOperators,
      summary: 'The request inbox, newest first',
      querystring: Type.Object(
        {
          state: Type.Optional(
            Type.Unsafe<(typeof ACCESS_REQUEST_STATES)[number]>({
              type: 'string',
              enum: [...ACCESS_REQUEST_STATES],
            }),
          ),
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Rows a page.' }),
          after: Type.Optional(
            Type.String({ pattern: '^[0-9A-Za-z_]{1,40}$', description: 'The `next` of the page before.' }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 200: pageByIdSchema(accessRequestSchema) },
    },
    handler: ({ query }) => readPage(query.limit, (limit) => accessRequests.all({ ...query, limit })),
  })

  app.post('/v1/admin/access-requests/:requestId/grant', {
    onRequest: authenticate.administrator,
    schema: {
      ...ofOperators,
      problems: ['conflict'],
      summary: 'Grant a request',
      description: 'Without `addOns` or `credits`, what was asked for. 409 if it was decided already.',
      params: requestPath,
      body: grantAccessSchema,
      response: { 200: accessRequestSchema },
    },
    handler: (request) => accessRequests.grant(originOf(request), request.params.requestId, request.body),
  })

  app.post('/v1/admin/access-requests/:requestId/decline', {
    onRequest: authenticate.administrator,
    schema: {
      ...ofOperators,
      problems: ['conflict'],
      summary: 'Decline a request',
      params: requestPath,
      body: declineAccessSchema,
      response: { 200: accessRequestSchema },
    },
    handler: (request) =>
      accessRequests.decline(originOf(request), request.params.requestId, request.body.note),
  })
}
