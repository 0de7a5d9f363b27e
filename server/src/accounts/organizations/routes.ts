import { organizationNameSchema, organizationSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import { Problem } from '../../base/problem.ts'
import type { App } from '../../http/fastify-app.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { invitationRoutes } from './invitation-routes.ts'
import type { Invitations } from './invitations.ts'
import { memberRoutes } from './member-routes.ts'
import type { Members } from './members.ts'
import type { Organizations } from './organizations.ts'

export interface OrganizationRoutesDeps {
  organizations: Organizations
  members: Members
  invitations: Invitations
  authenticate: Authenticate
}

const documented = { tags: [tags.organizations], security: security.token }
const params = Type.Object({ organizationId: Type.String() })
const NameBody = Type.Object({ name: organizationNameSchema }, { additionalProperties: false })

export function organizationRoutes(app: App, parts: OrganizationRoutesDeps): void {
  const { organizations, authenticate } = parts
  const onRequest = authenticate.user

  app.get('/v1/organization/me', {
    onRequest,
    schema: {
      ...documented,
      summary: 'The organization that the caller acts for',
      description:
        'The token says which. A user who is a member of several gets a token for another one from `POST /v1/auth/switch`.',
      problems: ['not-found'],
      response: { 200: organizationSchema },
    },
    handler: async (request) => {
      const caller = authenticate.userOf(request)
      const record = await organizations.recordOf(caller)
      if (record) return record
      const others = await organizations.recordsOf(caller.userId)
      throw new Problem(
        'not-found',
        others.length > 0
          ? 'The caller is not a member of the organization that the token is for. GET /v1/organizations lists theirs, and POST /v1/auth/switch returns a token for one of them.'
          : 'The caller is in no organization. Accept an invitation, or make one with POST /v1/organization where sign-up is open.',
      )
    },
  })

  app.get('/v1/organizations', {
    onRequest,
    schema: {
      ...documented,
      summary: 'All organizations that the caller is a member of',
      response: { 200: Type.Object({ data: Type.Array(organizationSchema) }) },
    },
    handler: async (request) => ({
      data: await organizations.recordsOf(authenticate.userOf(request).userId),
    }),
  })

  app.post('/v1/organization', {
    onRequest,
    schema: {
      ...documented,
      summary: 'An organization of their own, for a user who is in none',
      problems: ['permission-missing', 'conflict'],
      description: 'Only if sign-up is open; otherwise the operator creates organizations.',
      body: NameBody,
      response: { 201: organizationSchema },
    },
    handler: async (request, reply) => {
      const created = await organizations.createOwn(authenticate.userOf(request), request.body.name)
      return reply.code(201).send(created)
    },
  })

  app.get('/v1/organization/:organizationId', {
    onRequest,
    schema: {
      ...documented,
      summary: 'An organization, for its members',
      params,
      response: { 200: organizationSchema },
    },
    handler: (request) => organizations.record(authenticate.userOf(request), request.params.organizationId),
  })

  app.patch('/v1/organization/:organizationId', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Rename an organization',
      description: 'Needs MEMBER_MANAGE.',
      params,
      body: NameBody,
      response: { 200: organizationSchema },
    },
    handler: (request) =>
      organizations.rename(authenticate.userOf(request), request.params.organizationId, request.body.name),
  })

  memberRoutes(app, parts)
  invitationRoutes(app, parts)
}
