import {
  addressBlockSchema,
  adminEventSchema,
  adminSessionSchema,
  adminUserSchema,
  documentedAs,
  foundKeySchema,
  NO_NUL,
  pageSchema,
} from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import { readPage } from '../../http/schemas.ts'
import type { AddressBlocks } from '../access/address-blocks.ts'
import type { Authenticate } from '../access/authenticate.ts'
import { eventFilterOf, eventQuery } from '../organizations/event-query.ts'
import { searchEvents } from '../organizations/event-search.ts'
import { readNamedEvents } from '../organizations/named-events.ts'
import type { KeyFinder } from './key-finder.ts'
import { operatorReason } from './operator-reason.ts'
import type { UserAdministration } from './user-administration.ts'

export interface OperatorRoutesDeps {
  database: ControlDatabase
  userAdministration: UserAdministration
  addressBlocks: AddressBlocks
  keyFinder: KeyFinder
  authenticate: Authenticate
}

const documented = { tags: [tags.administration], security: security.administrator }
const done = (description: string) => ({ 204: Type.Unsafe<undefined>({ description }) })
const userPath = Type.Object({ userId: Type.String() })
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
/** What `normalNetwork` accepts. */
const NETWORK_FORMS = [
  { format: 'ipv4' },
  { format: 'ipv6' },
  { pattern: `^(${OCTET}\\.){3}${OCTET}/([12]?[0-9]|3[0-2])$` },
  { pattern: '^([0-9A-Fa-f]{1,4}:){1,6}:/([1-9]?[0-9]|1[01][0-9]|12[0-8])$' },
]

/** Routes for platform administrators about users, addresses, keys and the audit log. */
export function operatorRoutes(app: App, deps: OperatorRoutesDeps): void {
  userRoutes(app, deps)
  sessionRoutes(app, deps)
  addressBlockRoutes(app, deps)
  keyRoutes(app, deps)
  eventRoutes(app, deps)
}

type Routes<Name extends keyof OperatorRoutesDeps> = Pick<OperatorRoutesDeps, 'authenticate' | Name>

function userRoutes(
  app: App,
  { userAdministration: users, authenticate }: Routes<'userAdministration'>,
): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/users/:userId', {
    onRequest,
    schema: { ...documented, summary: 'A user', params: userPath, response: { 200: adminUserSchema } },
    handler: ({ params }) => users.find(params.userId),
  })

  app.delete('/v1/admin/users/:userId', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      problems: ['last-member-manager', 'conflict'],
      summary: 'Delete a user',
      description:
        'Their sessions and personal keys stop at once. The ledger and the audit log stay, without the mail address. 409 for the last member who may manage an organization with other members, and for platform administrators. An organization without other members is closed: its keys are revoked.',
      params: userPath,
      response: done('Deleted.'),
    },
    handler: async (request, reply) => {
      await users.delete(authenticate.originOf(request), request.params.userId)
      return reply.code(204).send(undefined)
    },
  })

  app.post('/v1/admin/users/:userId/block', {
    onRequest,
    schema: {
      ...documented,
      problems: ['conflict'],
      summary: 'Block a user',
      description:
        'They cannot sign in, their sessions end, and their personal keys are refused until they are unblocked.',
      params: userPath,
      body: Type.Object({ reason: operatorReason }, { additionalProperties: false }),
      response: { 200: adminUserSchema },
    },
    handler: (request) =>
      users.block(authenticate.originOf(request), request.params.userId, request.body.reason),
  })

  app.post('/v1/admin/users/:userId/unblock', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Unblock a user',
      params: userPath,
      response: { 200: adminUserSchema },
    },
    handler: (request) => users.unblock(authenticate.originOf(request), request.params.userId),
  })
}

function sessionRoutes(
  app: App,
  { userAdministration: users, authenticate }: Routes<'userAdministration'>,
): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/users/:userId/sessions', {
    onRequest,
    schema: {
      ...documented,
      summary: 'A user’s sessions, the last used first',
      params: userPath,
      response: { 200: Type.Object({ data: Type.Array(adminSessionSchema) }) },
    },
    handler: async ({ params }) => ({ data: await users.sessions(params.userId) }),
  })

  app.delete('/v1/admin/users/:userId/sessions', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'End all sessions of a user',
      params: userPath,
      response: done('Ended.'),
    },
    handler: async (request, reply) => {
      await users.endSessions(authenticate.originOf(request), request.params.userId)
      return reply.code(204).send(undefined)
    },
  })

  app.delete('/v1/admin/users/:userId/sessions/:sessionId', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'End a session of a user',
      params: Type.Object({ userId: Type.String(), sessionId: Type.String() }),
      response: done('Ended.'),
    },
    handler: async (request, reply) => {
      const { userId, sessionId } = request.params
      await users.endSessions(authenticate.originOf(request), userId, sessionId)
      return reply.code(204).send(undefined)
    },
  })
}

function addressBlockRoutes(app: App, { addressBlocks, authenticate }: Routes<'addressBlocks'>): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/address-blocks', {
    onRequest,
    schema: {
      ...documented,
      summary: 'The blocked networks',
      description: 'Also those that have expired in the last 30 days.',
      response: { 200: Type.Object({ data: Type.Array(addressBlockSchema) }) },
    },
    handler: async () => ({ data: await addressBlocks.list() }),
  })

  app.post('/v1/admin/address-blocks', {
    onRequest,
    schema: {
      ...documented,
      problems: ['conflict'],
      summary: 'Block an address or a network',
      description:
        'Its requests are 403 `address-blocked`. 409 if the caller’s own address or the loopback address is in it.',
      body: Type.Object(
        {
          network: Type.String({
            minLength: 2,
            maxLength: 64,
            description: 'Such as 192.0.2.7 or 2001:db8::/32.',
            ...documentedAs({ anyOf: NETWORK_FORMS }),
          }),
          reason: operatorReason,
          expiresAt: Type.Optional(
            Type.String({ format: 'date-time', description: 'Without it: until removed.' }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 201: addressBlockSchema },
    },
    handler: async (request, reply) => {
      const { network, reason, expiresAt } = request.body
      const block = { network, reason, expiresAt: expiresAt === undefined ? null : new Date(expiresAt) }
      return reply.code(201).send(await addressBlocks.add(authenticate.originOf(request), block, request.ip))
    },
  })

  app.delete('/v1/admin/address-blocks/:blockId', {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'Remove the block of a network',
      params: Type.Object({ blockId: Type.String() }),
      response: done('Removed.'),
    },
    handler: async (request, reply) => {
      await addressBlocks.remove(authenticate.originOf(request), request.params.blockId)
      return reply.code(204).send(undefined)
    },
  })
}

function keyRoutes(app: App, { keyFinder, authenticate }: Routes<'keyFinder'>): void {
  const onRequest = authenticate.administrator

  app.post('/v1/admin/keys/find', {
    onRequest,
    schema: {
      ...documented,
      problems: ['conflict', 'not-found'],
      summary: 'Find a key by its secret or prefix, and revoke it',
      description:
        'With `revoke`, exactly one key must match: 404 if there is none, 409 if there are several.',
      body: Type.Object(
        {
          secret: Type.String({
            minLength: 1,
            maxLength: 200,
            pattern: NO_NUL,
            description: 'The secret, or its first characters.',
          }),
          revoke: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ data: Type.Array(foundKeySchema) }) },
    },
    handler: async (request) => {
      const { secret, revoke } = request.body
      const data = revoke
        ? await keyFinder.revoke(authenticate.originOf(request), secret)
        : await keyFinder.find(secret)
      return { data }
    },
  })
}

function eventRoutes(app: App, { database, authenticate }: Routes<'database'>): void {
  const onRequest = authenticate.administrator

  app.get('/v1/admin/events', {
    onRequest,
    schema: {
      ...documented,
      summary: 'The audit events of the whole service, newest first',
      querystring: eventQuery,
      response: { 200: pageSchema(adminEventSchema) },
    },
    handler: ({ query }, reply) =>
      readPage(query.limit, (limit) =>
        searchEvents({
          db: database.db,
          text: query.q,
          filter: { ...eventFilterOf(query), before: query.before, limit },
          read: (filter) => readNamedEvents(database.db, filter),
          hasLeft: () => reply.raw.destroyed,
        }),
      ),
  })
}
