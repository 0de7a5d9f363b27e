import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type DatasetRecord, datasetDetailsSchema } from '@wayleave/contract/records'
import { DATASET_ACCESS } from '@wayleave/contract/visibilities'
import { Type } from 'typebox'
import type { Authenticate } from '../../accounts/access/authenticate.ts'
import { mayRead, priceFor } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Meter } from '../../accounts/usage/meter.ts'
import type { Clock } from '../../base/clock.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import { matchesEtag } from '../../http/headers.ts'
import { tags } from '../../http/openapi.ts'
import { noQuery } from '../../http/schemas.ts'
import { type DataRoute, emptyResponse, matchPattern, responseOf } from '../../http/sockets/data-response.ts'
import type { Catalog } from './catalog.ts'
import type { Dataset } from './dataset.ts'
import { datasetMetadata, type FileSizes, metadataCacheControl } from './metadata.ts'
import type { TileStateSource } from './tile-state-source.ts'

interface MetadataDeps {
  catalog: Catalog
  authenticate: Authenticate
  meter: Meter
  baseUrl: BaseUrl
  tileStates: TileStateSource
  exports: { sizes: FormatSizes }
  clock: Clock
}

/** The sizes of built exports, which are built by `downloads`. */
interface FormatSizes {
  of(dataset: Dataset): MaybePromise<FileSizes>
}

/** What differs between callers. */
interface Offer {
  credits: number
  /** How the caller may get the data, separated by blanks. */
  access: string
}

function offerTo(caller: Grant | null, dataset: Dataset, clock: Clock): Offer {
  const access = DATASET_ACCESS.filter((each) => mayRead(caller, dataset, each, clock)).join(' ')
  return { credits: priceFor(caller, dataset, clock), access }
}

/** The metadata of a dataset as the bytes to send, and its tag. */
interface FinishedMetadata extends Offer {
  base: string
  tiles: DatasetRecord['tiles']
  sizes: FileSizes
  bytes: Buffer
  tag: string
}

/**
 * The route of one dataset's metadata: finished bytes, made once for each state of a version, its tiles and its files. See
 * docs/decisions/two-transports.md.
 */
export function metadataRoute({
  catalog,
  authenticate,
  meter,
  baseUrl,
  tileStates,
  exports,
  clock,
}: MetadataDeps): DataRoute {
  const pattern = '/v1/dataset/:table'
  const match = matchPattern(pattern)
  const finished = new WeakMap<Dataset, FinishedMetadata>()
  const metadataOf = (
    dataset: Dataset,
    { credits, access }: Offer,
    base: string,
    tiles: DatasetRecord['tiles'],
    sizes: FileSizes,
  ): FinishedMetadata => {
    const cached = finished.get(dataset)
    if (
      cached?.base === base &&
      cached.credits === credits &&
      cached.access === access &&
      cached.sizes === sizes &&
      isDeepStrictEqual(cached.tiles, tiles)
    ) {
      return cached
    }
    const statistics = dataset.manifest.statistics ?? null
    const record = datasetMetadata({ ...dataset, credits }, base, tiles, sizes)
    const bytes = Buffer.from(
      JSON.stringify({ ...record, access: access.split(' ').filter(Boolean), statistics }),
    )
    const metadata = {
      base,
      credits,
      access,
      tiles,
      sizes,
      bytes,
      tag: `W/"${hash('sha1', bytes, 'base64url').slice(0, 16)}"`,
    }
    finished.set(dataset, metadata)
    return metadata
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
      response: { 200: datasetDetailsSchema, 304: Type.Unsafe<undefined>({ description: 'Not modified.' }) },
    },
    respond: (exchange, { table }) =>
      andThen(authenticate.optionalKeyOf(exchange), (grant) =>
        andThen(catalog.findFor(grant, table!), (dataset) => {
          if (grant) meter.record(grant, { operation: 'metadata', table: dataset.table, format: 'json' })
          return andThen(exports.sizes.of(dataset), (sizes) =>
            andThen(tileStates.stateOf(dataset), (tiles) => {
              const offer = offerTo(grant, dataset, clock)
              const { bytes, tag } = metadataOf(dataset, offer, baseUrl.of(exchange.caller), tiles, sizes)
              exchange.setHeader('etag', tag)
              exchange.setHeader('cache-control', metadataCacheControl(dataset))
              if (matchesEtag(exchange.request.headers['if-none-match'], tag)) return emptyResponse(304)
              exchange.setHeader('content-type', 'application/json; charset=utf-8')
              return responseOf(200, bytes)
            }),
          )
        }),
      ),
  }
}
