import {
  emailSchema,
  invitationPreviewSchema,
  invitationSchema,
  memberPermissionsSchema,
  organizationSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Invitations } from './invitations.ts'
import type { Organizations } from './organizations.ts'

export interface InvitationRoutesDeps {
  invitations: Invitations
  organizations: Organizations
  authenticate: Authenticate
}

const documented = { tags: [tags.organizations], security: security.token }
const params = Type.Object({ organizationId: Type.String() })
const invitationToken = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 200 }) },
  { additionalProperties: false },
)

export function invitationRoutes(
  app: App,
  { invitations, organizations, authenticate }: InvitationRoutesDeps,
): void {
  const onRequest = authenticate.user

  app.get('/v1/organization/:organizationId/invitations', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Invitations that can still be accepted',
      description: 'Needs MEMBER_MANAGE.',
      params,
      response: { 200: Type.Object({ data: Type.Array(invitationSchema) }) },
    },
    handler: async (request) => ({
      data: await invitations.list(authenticate.userOf(request), request.params.organizationId),
    }),
  })

  app.post('/v1/organization/:organizationId/invitations', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Invite a mail address',
      problems: ['conflict', 'member-limit-reached'],
      description:
        'Needs MEMBER_MANAGE, and each permission that the invitation grants. The mail’s link works once, for 7 days; a new invitation to the same address replaces the older one.',
      params,
      body: Type.Object(
        {
          email: emailSchema,
          permissions: Type.Optional(memberPermissionsSchema),
        },
        { additionalProperties: false },
      ),
      response: { 201: invitationSchema },
    },
    handler: async (request, reply) => {
      const { email, permissions = [] } = request.body
      const invitation = await invitations.invite(
        authenticate.userOf(request),
        request.params.organizationId,
        { email, permissions },
      )
      return reply.code(201).send(invitation)
    },
  })

  app.delete('/v1/organization/:organizationId/invitations/:invitationId', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Withdraw an invitation',
      description: 'Needs MEMBER_MANAGE.',
      params: Type.Object({ organizationId: Type.String(), invitationId: Type.String() }),
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const { organizationId, invitationId } = request.params
      await invitations.withdraw(authenticate.userOf(request), organizationId, invitationId)
      return reply.code(204).send(null)
    },
  })

  app.post('/v1/invitations/preview', {
    onRequest: (request, reply) => authenticate.anonymous(request, reply),
    schema: {
      tags: [tags.organizations],
      summary: 'What an invitation offers',
      problems: ['invitation-invalid'],
      description: 'For the person who has the link of the invitation, before or after signing in.',
      body: invitationToken,
      response: { 200: invitationPreviewSchema },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store')
      return invitations.preview(request.body.token)
    },
  })

  app.post('/v1/invitations/accept', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Accept an invitation',
      problems: ['invitation-invalid', 'member-limit-reached'],
      description:
        'For the user whose mail address was invited. They stay members of their other organizations, and the token acts for the same one as before: `POST /v1/auth/switch` returns one for the new organization.',
      body: invitationToken,
      response: { 200: organizationSchema },
    },
    handler: async (request) => {
      const caller = authenticate.userOf(request)
      const organizationId = await invitations.accept(caller, request.body.token)
      return organizations.record({ userId: caller.userId, organizationId }, organizationId)
    },
  })
}
