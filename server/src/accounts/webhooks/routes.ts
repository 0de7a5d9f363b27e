import {
  createdWebhookSchema,
  deliverySchema,
  newWebhookSchema,
  pageByIdSchema,
  rotatedWebhookSchema,
  webhookChangeSchema,
  webhookRotationSchema,
  webhookSchema,
} from '@wayleave/contract/records'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ControlDatabase } from '../../base/database/open.ts'
import { Problem } from '../../base/problem.ts'
import type { App } from '../../http/fastify-app.ts'
import { absentBodyIsEmpty, withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import { readPage } from '../../http/schemas.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { requireMember } from '../access/membership.ts'
import { findMembership } from '../access/membership-store.ts'
import type { WebhookDispatcher } from './webhook-dispatcher.ts'
import type { WebhookActor, Webhooks } from './webhooks.ts'

export interface WebhookRoutesDeps {
  webhooks: Webhooks
  webhookDispatcher: WebhookDispatcher
  authenticate: Authenticate
  database: ControlDatabase
}

interface WebhookPaths extends Pick<WebhookRoutesDeps, 'webhooks' | 'webhookDispatcher'> {
  /** `/v1/webhooks`, or the same for the platform. */
  path: string
  tag: string
  needs: string
  security: typeof security.administrator
  onRequest: Authenticate['user']
  actorOf: (request: FastifyRequest) => Promise<WebhookActor>
}

const params = Type.Object({ webhookId: Type.String() })
const deliveryParams = Type.Object({ webhookId: Type.String(), messageId: Type.String() })
const deliveryQuery = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Rows a page.' }),
    after: Type.Optional(
      Type.String({ pattern: '^msg_[0-9A-Za-z]{20}$', description: 'The `next` of the page before.' }),
    ),
    state: Type.Optional(
      Type.Unsafe<'waiting' | 'delivered' | 'failed'>({
        type: 'string',
        enum: ['waiting', 'delivered', 'failed'],
      }),
    ),
  },
  { additionalProperties: false },
)

/** The webhooks of the caller's organization and, under another path, those of the platform. */
export function webhookRoutes(app: App, deps: WebhookRoutesDeps): void {
  const { authenticate, database } = deps
  const paths: WebhookPaths[] = [
    {
      ...deps,
      path: '/v1/webhooks',
      tag: tags.organizations,
      needs: 'Needs MEMBER_MANAGE.',
      security: security.token,
      onRequest: authenticate.user,
      actorOf: async (request) => {
        const caller = authenticate.userOf(request)
        const membership = await findMembership(database.db, caller)
        if (!membership) throw new Problem('conflict', 'The caller belongs to no organization.')
        const { organizationId } = membership
        await requireMember(database.db, caller, organizationId, 'MEMBER_MANAGE')
        return { organizationId, origin: caller.origin }
      },
    },
    {
      ...deps,
      path: '/v1/admin/webhooks',
      tag: tags.administration,
      needs: 'Told of the events of all organizations.',
      security: security.administrator,
      onRequest: authenticate.administrator,
      actorOf: async (request) => ({ organizationId: null, origin: authenticate.originOf(request) }),
    },
  ]
  for (const each of paths) {
    listRoutes(app, each)
    oneWebhookRoutes(app, each)
    deliveryRoutes(app, each)
  }
}

function listRoutes(
  app: App,
  { path, tag, needs, security, onRequest, actorOf, webhooks }: WebhookPaths,
): void {
  const documented = { tags: [tag], security, problems: ['conflict'] as const }

  app.get(path, {
    onRequest,
    schema: {
      ...documented,
      summary: 'Webhooks',
      description: needs,
      response: { 200: Type.Object({ data: Type.Array(webhookSchema) }) },
    },
    handler: async (request) => ({ data: await webhooks.list(await actorOf(request)) }),
  })

  app.post(path, {
    onRequest,
    schema: {
      ...documented,
      summary: 'Create a webhook',
      description: `${needs} Messages are signed as the Standard Webhooks specification says. The response contains the secret, only this once.`,
      body: newWebhookSchema,
      response: { 201: createdWebhookSchema },
    },
    handler: async (request, reply) => {
      const created = await webhooks.create(await actorOf(request), request.body)
      return reply.code(201).header('location', `${path}/${created.id}`).send(created)
    },
  })
}

function oneWebhookRoutes(
  app: App,
  { path, tag, needs, security, onRequest, actorOf, webhooks, webhookDispatcher }: WebhookPaths,
): void {
  const documented = { tags: [tag], security, params, problems: ['conflict'] as const }
  const one = `${path}/:webhookId`

  app.get(one, {
    onRequest,
    schema: { ...documented, summary: 'One webhook', description: needs, response: { 200: webhookSchema } },
    handler: async (request) => webhooks.find(await actorOf(request), request.params.webhookId),
  })

  app.patch(one, {
    onRequest,
    schema: {
      ...documented,
      summary: 'Change, pause or resume a webhook',
      description: `${needs} Messages that wait when it is paused are not sent; they stay in the log and can be sent again.`,
      body: webhookChangeSchema,
      response: { 200: webhookSchema },
    },
    handler: async (request) =>
      webhooks.change(await actorOf(request), request.params.webhookId, request.body),
  })

  app.delete(one, {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Delete a webhook and its log',
      description: needs,
      response: { 204: Type.Null() },
    },
    handler: async (request, reply) => {
      await webhooks.delete(await actorOf(request), request.params.webhookId)
      return reply.code(204).send(null)
    },
  })

  app.post(`${one}/rotate`, {
    onRequest: [onRequest, withoutBody],
    preValidation: absentBodyIsEmpty,
    schema: {
      ...documented,
      summary: 'Give a webhook a new secret',
      description: `${needs} For a day, or for \`overlapSeconds\`, messages have a signature by each of the two secrets.`,
      body: webhookRotationSchema,
      documented: { isBodyOptional: true },
      response: { 200: rotatedWebhookSchema },
    },
    handler: async (request) =>
      webhooks.rotate(await actorOf(request), request.params.webhookId, request.body),
  })

  app.post(`${one}/test`, {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Send a test message',
      description: `${needs} The message is queued like any other; the log of deliveries shows what became of it.`,
      response: { 202: deliverySchema },
    },
    handler: async (request, reply) => {
      const delivery = await webhooks.test(await actorOf(request), request.params.webhookId)
      webhookDispatcher.poll()
      return reply.code(202).send(delivery)
    },
  })
}

function deliveryRoutes(
  app: App,
  { path, tag, needs, security, onRequest, actorOf, webhooks, webhookDispatcher }: WebhookPaths,
): void {
  const documented = { tags: [tag], security, problems: ['conflict'] as const }

  app.get(`${path}/:webhookId/deliveries`, {
    onRequest,
    schema: {
      ...documented,
      summary: 'The messages to a webhook and their attempts, newest first',
      description: needs,
      params,
      querystring: deliveryQuery,
      response: { 200: pageByIdSchema(deliverySchema) },
    },
    handler: async (request) => {
      const actor = await actorOf(request)
      const { limit: pageLimit, ...rest } = request.query
      return readPage(pageLimit, (limit) =>
        webhooks.deliveries(actor, request.params.webhookId, { ...rest, limit }),
      )
    },
  })

  app.post(`${path}/:webhookId/deliveries/:messageId/redeliver`, {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Send a message again',
      description: `${needs} It has the same \`webhook-id\`.`,
      params: deliveryParams,
      response: { 202: deliverySchema },
    },
    handler: async (request, reply) => {
      const { webhookId, messageId } = request.params
      const delivery = await webhooks.redeliver(await actorOf(request), webhookId, messageId)
      webhookDispatcher.poll()
      return reply.code(202).send(delivery)
    },
  })
}
