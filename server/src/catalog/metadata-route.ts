import { hash } from 'node:crypto'
import { datasetSchema } from '@wayleave/contract/records'
import { Type } from 'typebox'
import type { Authenticate } from '../access/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import { matchesEtag } from '../http/matches-etag.ts'
import { noQuery } from '../http/no-query.ts'
import { nullable } from '../http/nullable.ts'
import { tags } from '../http/openapi.ts'
import { type DataRoute, emptyResponse, matchPattern, responseOf } from '../http/sockets/data-response.ts'
import { andThen } from '../maybe-promise.ts'
import type { Meter } from '../usage/meter.ts'
import type { Catalog } from './catalog.ts'
import type { Dataset } from './dataset.ts'
import { datasetMetadata } from './metadata.ts'

interface MetadataParts {
  catalog: Catalog
  authenticate: Authenticate
  meter: Meter
  baseUrl: BaseUrl
}

const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const count = Type.Integer({ minimum: 0 })

/** One dataset has its columns' statistics too; in the list they would be most of the response. */
const wholeMetadata = Type.Object({
  ...datasetSchema.properties,
  statistics: nullable(
    Type.Record(
      Type.String(),
      Type.Object({
        nulls: count,
        distinct: count,
        isExact: Type.Boolean({ description: 'False if `distinct` is an estimate.' }),
        min: Type.Optional(value),
        max: Type.Optional(value),
        mean: Type.Optional(Type.Number()),
        histogram: Type.Optional(
          Type.Array(count, { description: 'Rows in intervals of equal width between `min` and `max`.' }),
        ),
        frequent: Type.Optional(
          Type.Array(Type.Object({ value, count }), { description: 'The most frequent values.' }),
        ),
      }),
      { description: 'By column; null for datasets that were published before there were any.' },
    ),
  ),
})

/** The metadata of a dataset as the bytes to send, and its tag. */
interface FinishedMetadata {
  base: string
  bytes: Buffer
  tag: string
}

/** The route of one dataset's metadata: finished bytes, made once for each version. */
export function metadataRoute({ catalog, authenticate, meter, baseUrl }: MetadataParts): DataRoute {
  const pattern = '/v1/dataset/:table'
  const match = matchPattern(pattern)
  const finished = new WeakMap<Dataset, FinishedMetadata>()
  const metadataOf = (dataset: Dataset, base: string): FinishedMetadata => {
    const cached = finished.get(dataset)
    if (cached?.base === base) return cached
    const statistics = dataset.manifest.statistics ?? null
    const bytes = Buffer.from(JSON.stringify({ ...datasetMetadata(dataset, base), statistics }))
    const made = { base, bytes, tag: `W/"${hash('sha1', bytes, 'base64url').slice(0, 16)}"` }
    finished.set(dataset, made)
    return made
  }
  return {
    pattern,
    // A query is refused by the schema.
    match: (url) => (url.includes('?') ? null : match(url)),
    schema: {
      tags: [tags.catalog],
      summary: 'One dataset',
      params: Type.Object({ table: Type.String() }),
      querystring: noQuery,
      response: { 200: wholeMetadata, 304: Type.Unsafe<undefined>({ description: 'Not modified.' }) },
    },
    respond: (exchange, { table }) =>
      andThen(authenticate.optionalKeyOf(exchange), (grant) =>
        andThen(catalog.find(table!), (dataset) => {
          if (grant) meter.record(grant, { operation: 'metadata', table: dataset.table, format: 'json' })
          const { bytes, tag } = metadataOf(dataset, baseUrl.of(exchange.caller))
          exchange.setHeader('etag', tag)
          exchange.setHeader('cache-control', 'public, no-cache')
          if (matchesEtag(exchange.request.headers['if-none-match'], tag)) return emptyResponse(304)
          exchange.setHeader('content-type', 'application/json; charset=utf-8')
          return responseOf(200, bytes)
        }),
      ),
  }
}
