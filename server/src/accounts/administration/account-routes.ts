import { personalDataSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Identity } from '../identity/identity.ts'
import { SessionReplies } from '../identity/session-replies.ts'
import type { OrganizationAdministration } from './organization-administration.ts'
import type { UserAdministration } from './user-administration.ts'

export interface AccountRoutesDeps {
  userAdministration: UserAdministration
  organizationAdministration: OrganizationAdministration
  identity: Identity
  baseUrl: BaseUrl
  authenticate: Authenticate
}

const DATA_DESCRIPTION =
  'The user, memberships, sessions, personal keys without secrets, invitations, requests for access, switched-off notices, webhooks that the user created and orders that they placed, billing profiles that they may see, and the newest 10,000 rows each of the ledger, the usage, the log of requests and the audit log. Data about others is left out.'
const closed = { 204: Type.Unsafe<undefined>({ description: 'Deleted.' }) }

/** What users may do with their own data and organizations, and administrators for them. */
export function accountRoutes(app: App, deps: AccountRoutesDeps): void {
  ownAccountRoutes(app, deps)
  ownOrganizationRoute(app, deps)
  administrationRoutes(app, deps)
}

function ownAccountRoutes(
  app: App,
  { userAdministration, identity, baseUrl, authenticate }: AccountRoutesDeps,
): void {
  const replies = new SessionReplies(identity, baseUrl)
  const documented = { tags: [tags.signIn], security: security.token }

  app.get('/v1/auth/me/data', {
    onRequest: authenticate.user,
    schema: {
      ...documented,
      summary: 'Everything that the service stores about the caller',
      description: DATA_DESCRIPTION,
      response: { 200: personalDataSchema },
    },
    handler: (request, reply) => {
      reply.header('content-disposition', 'attachment; filename="my-data.json"')
      return userAdministration.data(authenticate.userOf(request).userId)
    },
  })

  app.delete('/v1/auth/me', {
    onRequest: [authenticate.user, withoutBody],
    schema: {
      ...documented,
      summary: 'Close the account',
      problems: ['last-member-manager', 'conflict'],
      description:
        'Deletes the user: sessions and personal keys stop at once, in all organizations. The ledger and the audit log stay, with the user’s id instead of the mail address. 409 for the last member who may manage an organization with other members, and for platform administrators. An organization without other members is closed: its keys are revoked, and its credits are lost.',
      response: closed,
    },
    handler: async (request, reply) => {
      const { userId, origin } = authenticate.userOf(request)
      await userAdministration.delete(origin, userId)
      replies.clearCookie(reply)
      return reply.code(204).send(undefined)
    },
  })
}

function ownOrganizationRoute(
  app: App,
  { organizationAdministration, authenticate }: AccountRoutesDeps,
): void {
  app.delete('/v1/organization/:organizationId', {
    onRequest: [authenticate.user, withoutBody],
    schema: {
      tags: [tags.organizations],
      security: security.token,
      summary: 'Delete an organization',
      description:
        'Needs MEMBER_MANAGE. Its members leave it, and all its keys are revoked at once. Its credits are lost, its plan ends, and its datasets become the operator’s and are no longer refreshed from their sources. Webhooks, invitations, the billing profile and the log of requests are deleted. The ledger, invoices and the audit log stay, the last without its name.',
      params: Type.Object({ organizationId: Type.String() }),
      response: closed,
    },
    handler: async (request, reply) => {
      const caller = authenticate.userOf(request)
      await organizationAdministration.delete(caller.origin, request.params.organizationId, caller)
      return reply.code(204).send(undefined)
    },
  })
}

function administrationRoutes(app: App, { userAdministration, authenticate }: AccountRoutesDeps): void {
  const documented = { tags: [tags.administration], security: security.administrator }
  const params = Type.Object({ userId: Type.String() })

  app.get('/v1/admin/users/:userId/data', {
    onRequest: authenticate.administrator,
    schema: {
      ...documented,
      summary: 'Everything that the service stores about a user',
      description: DATA_DESCRIPTION,
      params,
      response: { 200: personalDataSchema },
    },
    handler: (request, reply) => {
      const { userId } = request.params
      reply.header('content-disposition', `attachment; filename="user-data.json"`)
      return userAdministration.data(userId)
    },
  })

  app.delete('/v1/admin/users/:userId/sign-on', {
    onRequest: [authenticate.administrator, withoutBody],
    schema: {
      ...documented,
      summary: 'Unlink a user from their account at the provider of single sign-on',
      description: 'The next single sign-on with the user’s mail address links the user again.',
      params,
      response: { 204: Type.Unsafe<undefined>({ description: 'Unlinked.' }) },
    },
    handler: async (request, reply) => {
      await userAdministration.unlink(authenticate.originOf(request), request.params.userId)
      return reply.code(204).send(undefined)
    },
  })
}
