import { memberCreditLimitSchema, memberPermissionsSchema, memberSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Authenticate } from '../access/authenticate.ts'
import type { Members } from './members.ts'

const documented = { tags: [tags.organizations], security: security.token }
const params = Type.Object({ organizationId: Type.String(), userId: Type.String() })

export function memberRoutes(
  app: App,
  { members, authenticate }: { members: Members; authenticate: Authenticate },
): void {
  const onRequest = authenticate.user

  app.get('/v1/organization/:organizationId/members', {
    onRequest,
    schema: {
      ...documented,
      summary: 'The members of an organization, for its members',
      params: Type.Object({ organizationId: Type.String() }),
      response: { 200: Type.Object({ data: Type.Array(memberSchema) }) },
    },
    handler: async (request) => ({
      data: await members.list(authenticate.userOf(request), request.params.organizationId),
    }),
  })

  app.patch('/v1/organization/:organizationId/members/:userId', {
    onRequest,
    schema: {
      ...documented,
      problems: ['last-member-manager'],
      summary: 'Change a member’s permissions',
      description:
        'Needs MEMBER_MANAGE. The caller can grant only permissions they hold; the last member with MEMBER_MANAGE cannot lose it.',
      params,
      body: Type.Object({ permissions: memberPermissionsSchema }, { additionalProperties: false }),
      response: { 200: memberSchema },
    },
    handler: (request) => {
      const { organizationId, userId } = request.params
      return members.changePermissions(
        authenticate.userOf(request),
        organizationId,
        userId,
        request.body.permissions,
      )
    },
  })

  app.put('/v1/organization/:organizationId/members/:userId/budget', {
    onRequest,
    schema: {
      ...documented,
      summary: 'Limit what a member may spend in a month',
      description:
        'Needs BILLING_MANAGE. Holds for all personal keys of the member and the console together. Downloads beyond it are 402 `member-budget-exhausted`.',
      params,
      body: Type.Object({ creditLimit: memberCreditLimitSchema }, { additionalProperties: false }),
      response: { 200: memberSchema },
    },
    handler: (request) => {
      const { organizationId, userId } = request.params
      const caller = authenticate.userOf(request)
      return members.setBudget(caller, organizationId, userId, request.body.creditLimit)
    },
  })

  app.delete('/v1/organization/:organizationId/members/:userId', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Remove a member, or leave',
      problems: ['last-member-manager'],
      description:
        'Needs MEMBER_MANAGE, except to leave. The member’s personal keys stop at once; organization keys stay. The last member with MEMBER_MANAGE cannot leave.',
      params,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      const caller = authenticate.userOf(request)
      const { organizationId, userId } = request.params
      await members.remove(caller, caller.origin, organizationId, userId)
      return reply.code(204).send(null)
    },
  })
}
