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
      summary: 'The caller’s organization',
      problems: ['not-found'],
      response: { 200: organizationSchema },
    },
    handler: async (request) => {
      const record = await organizations.recordOf(authenticate.userOf(request).userId)
      if (record) return record
      throw new Problem(
        'not-found',
        'The caller is in no organization. Accept an invitation, or make one with POST /v1/organization where sign-up is open.',
      )
    },
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
      const { userId, origin } = authenticate.userOf(request)
      return reply.code(201).send(await organizations.createOwn(userId, origin, request.body.name))
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
    handler: (request) =>
      organizations.record(authenticate.userOf(request).userId, request.params.organizationId),
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
    handler: (request) => {
      const { userId, origin } = authenticate.userOf(request)
      return organizations.rename(userId, origin, request.params.organizationId, request.body.name)
    },
  })

  memberRoutes(app, parts)
  invitationRoutes(app, parts)
}
