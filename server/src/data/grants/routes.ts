import { datasetGrantSchema } from '@wayleave/contract/records'
import { DATASET_ACCESS, type DatasetAccess } from '@wayleave/contract/visibilities'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import {
  authenticatePublisher,
  type PublisherDeps,
  requireGranting,
  requireOwned,
} from '../../accounts/access/publisher.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Grants } from './grants.ts'

interface GrantRouteDeps extends PublisherDeps {
  catalog: Catalog
  grants: Grants
}

const params = Type.Object({ table: Type.String() })
const documented = {
  tags: [tags.publishing],
  security: [...security.key, ...security.token],
  problems: ['not-administrator', 'permission-missing'] as const,
}
const PATH = '/v1/admin/datasets/:table/grants'

const newGrant = Type.Object(
  {
    organizationId: Type.String({ maxLength: 100 }),
    expiresAt: Type.Optional(
      Type.Union([
        Type.String({ format: 'date-time', description: 'Without it: until it is removed.' }),
        Type.Null(),
      ]),
    ),
    access: Type.Optional(
      Type.Union([
        Type.Array(Type.Unsafe<DatasetAccess>({ type: 'string', enum: [...DATASET_ACCESS] }), {
          minItems: 1,
          maxItems: DATASET_ACCESS.length,
          description: 'What it is limited to. Without `archives`, the current version only.',
        }),
        Type.Null(),
      ]),
    ),
    credits: Type.Optional(
      Type.Union([
        Type.Integer({
          minimum: 0,
          maximum: 1_000_000,
          description: 'What one download costs this organization.',
        }),
        Type.Null(),
      ]),
    ),
  },
  { additionalProperties: false },
)

/** Who has access to a dataset beyond add-ons, for its publishers. */
export function grantRoutes(app: App, { grants, catalog, ...deps }: GrantRouteDeps): void {
  const { authenticate } = deps
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    const { table } = request.params as { table: string }
    const publisher = await authenticatePublisher(deps, request, reply)
    requireGranting(publisher, table)
    requireOwned(publisher, table, await catalog.find(table))
  }

  app.get(PATH, {
    onRequest,
    schema: {
      ...documented,
      summary: 'The organizations with access to a dataset',
      description: 'Oldest first; also grants that have expired.',
      params,
      response: { 200: Type.Object({ data: Type.Array(datasetGrantSchema) }) },
    },
    handler: async (request) => ({ data: await grants.list(request.params.table) }),
  })

  app.post(PATH, {
    onRequest,
    schema: {
      ...documented,
      summary: 'Give an organization access to a dataset',
      description:
        'To a private dataset, or to a public one beyond the add-ons of the organization. Replaces what the organization had.',
      params,
      body: newGrant,
      response: { 201: datasetGrantSchema },
    },
    handler: async (request, reply) => {
      const { expiresAt, ...grant } = request.body
      const until = expiresAt == null ? null : new Date(expiresAt)
      const given = { ...grant, expiresAt: until }
      return reply
        .code(201)
        .send(await grants.give(authenticate.originOf(request), request.params.table, given))
    },
  })

  app.delete(`${PATH}/:grantId`, {
    onRequest: [onRequest, withoutBody],
    schema: {
      ...documented,
      summary: 'End the access of an organization to a dataset',
      description: 'Holds on every node before the response.',
      params: Type.Object({ table: Type.String(), grantId: Type.String() }),
      response: { 204: Type.Unsafe<undefined>({ description: 'Ended.' }) },
    },
    handler: async (request, reply) => {
      const { table, grantId } = request.params
      await grants.end(authenticate.originOf(request), table, grantId)
      return reply.code(204).send(undefined)
    },
  })
}
