import { archiveSchema, datasetSchema, pageByIdSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { requireMember } from '../../accounts/access/membership.ts'
import type { Meter } from '../../accounts/usage/meter.ts'
import type { Clock } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { notFound } from '../../base/problem.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import { matchesEtag } from '../../http/headers.ts'
import { security, tags } from '../../http/openapi.ts'
import { noQuery } from '../../http/schemas.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Catalog } from './catalog.ts'
import { archiveMetadata, datasetMetadata, metadataCacheControl, pricedFor } from './metadata.ts'
import { readSample } from './read-sample.ts'
import { searchDatasets } from './search-datasets.ts'
import type { SnapshotHealth } from './snapshot-health.ts'
import type { TileStateSource } from './tile-state-source.ts'

interface CatalogDeps {
  catalog: Catalog
  blobs: Blobs
  health: SnapshotHealth
  authenticate: Authenticate
  meter: Meter
  baseUrl: BaseUrl
  tileStates: TileStateSource
  clock: Clock
  database: Pick<ControlDatabase, 'db'>
}

const searchQuery = Type.Object(
  {
    ...noQuery.properties,
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Words that all occur in the name, title, description, keywords or attribution.',
      }),
    ),
    keyword: Type.Optional(Type.String({ maxLength: 200, description: 'Only datasets with this keyword.' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Datasets a page.' })),
    after: Type.Optional(
      Type.String({
        maxLength: 63,
        description: 'The `next` of the page before; without it, the first page.',
      }),
    ),
  },
  { additionalProperties: false },
)
const tableParams = Type.Object({ table: Type.String() })
/** The file is sent as it is, without parsing and serializing the rows. */
const rowsAsBytes = Type.Unsafe<Buffer>({
  type: 'array',
  items: { type: 'object', additionalProperties: true },
})

export function catalogRoutes(
  app: App,
  { catalog, blobs, health, authenticate, meter, baseUrl, tileStates, clock, database }: CatalogDeps,
): void {
  const call = (table: string, operation: string) => ({ operation, table, format: 'json' })

  app.get('/v1/datasets', {
    schema: {
      tags: [tags.catalog],
      summary: 'Datasets, all or those that match',
      description: 'In the order of their table names; without `limit`, all of them.',
      querystring: searchQuery,
      response: { 200: pageByIdSchema(datasetSchema) },
    },
    handler: async (request, reply) => {
      const grant = await authenticate.optionalKey(request, reply)
      if (grant) meter.record(grant, call('', 'metadata'))
      const base = baseUrl.of(request)
      const { page, next } = searchDatasets(await catalog.allFor(grant), request.query)
      const states = await Promise.all(page.map((dataset) => tileStates.stateOf(dataset)))
      const priced = page.map((dataset) => pricedFor(grant, dataset, clock))
      return { data: priced.map((dataset, i) => datasetMetadata(dataset, base, states[i]!)), next }
    },
  })

  app.get('/v1/dataset/:table/sample/json', {
    schema: {
      tags: [tags.data],
      summary: 'A free sample of the rows',
      problems: ['data-damaged'],
      description:
        'At most 100 rows and at most a tenth of them, spread over the dataset, shaped like the json export.',
      params: tableParams,
      querystring: noQuery,
      response: { 200: rowsAsBytes, 304: Type.Unsafe<undefined>({ description: 'Not modified.' }) },
    },
    handler: async (request, reply) => {
      const grant = await authenticate.optionalKey(request, reply)
      const dataset = await catalog.findFor(grant, request.params.table)
      if (grant) meter.record(grant, call(dataset.table, 'sample'))
      return catalog.withCurrent(dataset, async (current) => {
        if (!current.hasSample) throw notFound(`sample of the dataset "${current.table}"`)
        await health.require(current)
        const etag = `"${current.snapshot}-sample"`
        const isUnchanged = matchesEtag(request.headers['if-none-match'], etag)
        const sample = isUnchanged ? null : await health.reading(current, () => readSample(blobs, current))
        reply.header('etag', etag).header('cache-control', metadataCacheControl(current))
        if (sample === null) return reply.code(304).send(undefined)
        return reply.type('application/json; charset=utf-8').send(sample)
      })
    },
  })

  app.get('/v1/dataset/:table/archives', {
    schema: {
      tags: [tags.catalog],
      summary: 'All versions of a dataset, the current one included, newest first',
      params: tableParams,
      querystring: noQuery,
      response: { 200: Type.Object({ data: Type.Array(archiveSchema) }) },
    },
    handler: async (request, reply) => {
      const grant = await authenticate.optionalKey(request, reply)
      const { table } = request.params
      const { version: served } = await catalog.findFor(grant, table)
      const versions = await catalog.versions(table)
      if (grant) meter.record(grant, call(table, 'metadata'))
      const base = baseUrl.of(request)
      return {
        data: versions.map((version) => archiveMetadata(table, version, version.version === served, base)),
      }
    },
  })

  app.get('/v1/organization/:organizationId/datasets', {
    onRequest: authenticate.user,
    schema: {
      tags: [tags.publishing],
      security: security.token,
      summary: 'The datasets that an organization owns',
      description: 'Also those that others do not see. Needs DATASET_PUBLISH.',
      params: Type.Object({ organizationId: Type.String() }),
      response: { 200: Type.Object({ data: Type.Array(datasetSchema) }) },
    },
    handler: async (request) => {
      const { organizationId } = request.params
      await requireMember(database.db, authenticate.userOf(request), organizationId, 'DATASET_PUBLISH')
      const owned = (await catalog.all()).filter(({ owner }) => owner?.organizationId === organizationId)
      const states = await Promise.all(owned.map((dataset) => tileStates.stateOf(dataset)))
      const base = baseUrl.of(request)
      return { data: owned.map((dataset, i) => datasetMetadata(dataset, base, states[i]!)) }
    },
  })
}
