import { jobSchema, sourceRunSchema, sourceSchema } from '@wayleave/contract/records'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { isHidden } from '../../accounts/access/dataset-access.ts'
import {
  authenticatePublisher,
  type Publisher,
  type PublisherDeps,
  requireOwned,
  requireWrite,
} from '../../accounts/access/publisher.ts'
import { notFound } from '../../base/problem.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { withoutBody } from '../../http/headers.ts'
import { LONG_BODY_LIMIT } from '../../http/json-bodies.ts'
import { security, tags } from '../../http/openapi.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { isTable } from '../catalog/dataset.ts'
import { NO_ZERO } from '../publishing/description-schema.ts'
import { sourceOptionsSchema } from './source-options.ts'
import type { Sources } from './sources.ts'

interface SourceRouteDeps extends PublisherDeps {
  catalog: Catalog
  sources: Sources
  baseUrl: BaseUrl
}

const documented = { tags: [tags.publishing], security: [...security.key, ...security.token] }
const params = Type.Object({ table: Type.String() })
const MAX_RUNS = 1000

const sourceBody = Type.Object(
  {
    address: Type.String({
      minLength: 1,
      maxLength: 4000,
      pattern: NO_ZERO,
      description:
        'A file (`https://…`), an object (`s3://bucket/key`), a database (`postgres://…`, with `sourceTable` or `query`), a collection of an OGC API - Features (`…/collections/<id>`), a WFS (`…?service=WFS&typeNames=<name>`) or a layer of a FeatureServer. It may contain a user name, a password and parameters such as `token`, which are stored encrypted and not shown.',
    }),
    every: Type.Optional(
      Type.Union([Type.String({ minLength: 2, maxLength: 100, pattern: NO_ZERO }), Type.Null()], {
        description:
          'An interval (`30m`, `6h`, `1d`, `1w`) or a cron expression in UTC (`15 3 * * *`) or in a time zone (`CRON_TZ=Europe/Vienna 15 3 * * *`); without it, only by hand.',
      }),
    ),
    headers: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }),
        Type.String({ maxLength: 8000, pattern: '^[\\x20-\\x7e]*$' }),
        {
          maxProperties: 20,
          description: 'Headers to send to the address, such as a key; they are stored encrypted.',
        },
      ),
    ),
    options: Type.Optional(sourceOptionsSchema),
  },
  { additionalProperties: false },
)

/** Where a dataset is refreshed from: for the operator, and for the organization that publishes it. */
export function sourceRoutes(app: App, deps: SourceRouteDeps): void {
  const { sources, baseUrl } = deps
  const publishers = new WeakMap<FastifyRequest, Publisher>()
  const withWriter = async (request: FastifyRequest, reply: FastifyReply) => {
    publishers.set(request, await writerOf(request, reply, deps))
  }
  const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
    await withWriter(request, reply)
    const { table } = request.params as { table: string }
    await requireOwner(publishers.get(request)!, table, deps)
  }
  const common = { ...documented, params }

  app.get('/v1/dataset/:table/source', {
    schema: {
      ...common,
      summary: 'The source of a dataset',
      problems: ['not-administrator'],
      response: { 200: sourceSchema },
    },
    onRequest,
    handler: (request) => sources.find(request.params.table),
  })

  app.put('/v1/dataset/:table/source', {
    bodyLimit: LONG_BODY_LIMIT,
    schema: {
      ...common,
      summary: 'Set the source of a dataset',
      description:
        'A worker then refreshes the dataset from it, the first time at once. Credentials that are left out stay those of the same publisher and host. Needs what publishing the dataset needs.',
      problems: ['not-administrator', 'conflict'],
      body: sourceBody,
      response: { 200: sourceSchema },
    },
    onRequest: withWriter,
    handler: async (request) => {
      const { origin, organizationId } = publishers.get(request)!
      const { address, headers, every = null, options = {} } = request.body
      const { table } = request.params
      const ownerId = organizationId ?? (await deps.catalog.findIfAny(table))?.owner?.organizationId ?? null
      return sources.set({ table, ownerId, address, headers, every, settings: options }, origin)
    },
  })

  app.delete('/v1/dataset/:table/source', {
    schema: {
      ...common,
      summary: 'Remove the source of a dataset',
      description: 'The dataset stays as it is.',
      problems: ['not-administrator'],
      response: { 204: Type.Unsafe<undefined>({ description: 'Removed.' }) },
    },
    onRequest: [onRequest, withoutBody],
    handler: async (request, reply) => {
      await sources.remove(request.params.table, publishers.get(request)!.origin)
      return reply.code(204).send(undefined)
    },
  })

  app.get('/v1/dataset/:table/source/runs', {
    schema: {
      ...common,
      summary: 'What came of the source, the newest run first',
      problems: ['not-administrator'],
      querystring: Type.Object(
        { limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_RUNS, default: 100 })) },
        { additionalProperties: false },
      ),
      response: { 200: Type.Object({ data: Type.Array(sourceRunSchema) }) },
    },
    onRequest,
    handler: async (request) => ({
      data: await sources.runs(request.params.table, request.query.limit ?? 100),
    }),
  })

  app.post('/v1/dataset/:table/source/run', {
    schema: {
      ...common,
      summary: 'Refresh a dataset from its source now',
      description: 'Returns 202 with a job to follow. No version is made if nothing has changed.',
      problems: ['not-administrator'],
      response: { 202: jobSchema },
    },
    onRequest: [onRequest, withoutBody],
    handler: async (request, reply) => {
      const job = await sources.request(request.params.table, publishers.get(request)!.origin)
      return reply
        .code(202)
        .header('location', `${baseUrl.of(request)}/v1/jobs/${job.id}`)
        .send(job)
    },
  })
}

/** Requires somebody who may publish datasets of this name, if they are theirs. */
async function writerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: SourceRouteDeps,
): Promise<Publisher> {
  const { table } = request.params as { table: string }
  const publisher = await authenticatePublisher(deps, request, reply, () => {
    if (!isTable(table)) throw notFound('such dataset: a table name has lower-case letters, digits and _')
  })
  requireWrite(publisher, table)
  return publisher
}

/** Requires the operator, or a publisher of the organization that owns the dataset or, before its first run, the source. */
async function requireOwner(
  publisher: Publisher,
  table: string,
  { sources, catalog }: SourceRouteDeps,
): Promise<void> {
  const { organizationId } = publisher
  if (organizationId === null) return
  const dataset = await catalog.findIfAny(table)
  const sourceOwner = await sources.ownerOf(table)
  const isSourceOwn = sourceOwner === undefined || sourceOwner === organizationId
  const isOwn = dataset ? dataset.owner?.organizationId === organizationId : isSourceOwn
  if (isOwn && isSourceOwn) return
  if (dataset && !isHidden(dataset)) requireOwned(publisher, table, dataset)
  throw notFound(`source of "${table}"`)
}
