import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { TileAddress } from '@wayleave/geodata/tiles'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Meter } from '../../accounts/usage/meter.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { invalidInput, notFound } from '../../base/problem.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import { matchesEtag, preferredEncoding } from '../../http/headers.ts'
import { type DataResponse, emptyResponse, HEAD_ROOM, responseOf } from '../../http/sockets/data-response.ts'
import type { Exchange } from '../../http/sockets/exchange.ts'
import { admit } from '../items/admit.ts'
import { mvt, negotiate, TILE_ENCODINGS } from '../request/encodings.ts'
import { hash64 } from '../request/hash64.ts'
import { type ItemsQuery, readItemsQuery } from '../request/items-query.ts'
import { readNameList } from '../request/name-list.ts'
import { parameterOf, readQuery, refuseUnknown } from '../request/query-string.ts'
import { releaseBuffer, takeBuffer } from '../write/page-buffers.ts'
import { OPEN_CACHE_CONTROL } from '../write/respond.ts'
import type { StoredTile } from './tile-archives.ts'
import { buildOf } from './tile-files.ts'
import { readTileAddress } from './tile-path.ts'
import type { Tilesets, TilesetsDeps } from './tilesets.ts'

const inflate = promisify(gunzip)
const STORED = ['gzip'] as const
const VARY_LINE = 'vary: Accept-Encoding, Authorization, X-API-Key, Origin\r\n'
/**
 * A URL with a version, and with the build if the tiles were built again, never changes what it returns. Only the
 * client may store it, for keys are revoked.
 */
const IMMUTABLE_LINE = 'cache-control: private, max-age=31536000, immutable\r\n'
const CURRENT_LINE = 'cache-control: private, no-cache\r\n'
/** A day, because a dataset may not stay open. */
const OPEN_IMMUTABLE_LINE = 'cache-control: public, max-age=86400, immutable\r\n'
const OPEN_LINE = `cache-control: ${OPEN_CACHE_CONTROL}\r\n`

const TYPE_LINE = `content-type: ${mvt.mediaType}\r\n`
const STORED_LINES = `${TYPE_LINE}content-encoding: gzip\r\n`
const MAX_COPIED_BYTES = 1 << 16
const NO_PIECES: readonly Buffer[] = []

const TILE_PARAMETERS = [
  'f',
  'version',
  'build',
  'filter',
  'filter-lang',
  'filter-crs',
  'datetime',
  'by',
] as const

export interface TileDeps extends TilesetsDeps {
  tilesets: Tilesets
  meter: Meter
}

/**
 * Produces a tile, from the request to the finished response. It returns synchronously if the tile is in memory.
 */
export function tileResponse(exchange: Exchange, table: string, deps: TileDeps): MaybePromise<DataResponse> {
  return andThen(admit(exchange, table, deps, 'tiles', 'tile'), ({ grant, dataset }) => {
    const mark = exchange.url.indexOf('?')
    const path = mark === -1 ? exchange.url : exchange.url.slice(0, mark)
    const tile = readTileAddress(path)
    if (tile === null) throw notFound('tile at this place of the tile matrix set')
    const query = readTileQuery(exchange, dataset, deps)
    return andThen(deps.tilesets.versionOf(grant, dataset, query.version), (version) =>
      query.selection === null && query.by.length === 0
        ? storedTile({ exchange, grant, dataset, version, tile, query }, deps)
        : madeTile({ exchange, grant, dataset, version, tile, query }, deps),
    )
  })
}

interface TileQuery {
  version: string | undefined
  /** The build of the tiles that the URL is for; null for the first one. */
  build: string | null
  /** Null for tiles of all features. */
  selection: ItemsQuery | null
  /** The columns whose values are summed up where a point stands for several features. */
  by: readonly string[]
}

/** A map has a column for its color, one for its size and one for its labels. */
const MAX_SUMMED = 3

const PLAIN_QUERY: TileQuery = { version: undefined, build: null, selection: null, by: [] }

interface AdmittedTile {
  exchange: Exchange
  grant: Grant
  dataset: Dataset
  version: Version
  tile: TileAddress
  query: TileQuery
}

function readTileQuery(exchange: Exchange, dataset: Dataset, deps: TileDeps): TileQuery {
  const pairs = readQuery(exchange.url)
  if (pairs.length === 0) {
    negotiate(TILE_ENCODINGS, undefined, exchange.request.headers.accept)
    return PLAIN_QUERY
  }
  refuseUnknown(pairs, TILE_PARAMETERS)
  negotiate(TILE_ENCODINGS, parameterOf(pairs, 'f'), exchange.request.headers.accept)
  const version = parameterOf(pairs, 'version')
  const build = parameterOf(pairs, 'build') ?? null
  const by = readSummedColumns(parameterOf(pairs, 'by'), dataset)
  const selecting = pairs.filter(({ name }) => !['f', 'version', 'build', 'by'].includes(name))
  const selection = selecting.length === 0 ? null : readItemsQuery(selecting, undefined, dataset, deps)
  return { version, build, selection: selection?.conditions ? selection : null, by }
}

function readSummedColumns(text: string | undefined, { manifest }: Dataset): readonly string[] {
  if (text === undefined) return []
  const names = [...new Set(readNameList(text))]
  if (names.length > MAX_SUMMED) throw invalidInput('by', `must name at most ${MAX_SUMMED} columns`)
  for (const name of names) {
    const column = manifest.columns.find((one) => one.name === name)
    if (column === undefined) throw invalidInput('by', `names no column: "${name.slice(0, 80)}"`)
    if (column.type === 'json') throw invalidInput('by', `cannot have "${name}", whose values are nested`)
  }
  return names
}

function storedTile(admitted: AdmittedTile, deps: TileDeps): MaybePromise<DataResponse> {
  const { version, tile } = admitted
  const { archives } = deps.tilesets
  const cached = archives.peek(version, tile)
  if (cached) return respond(admitted, requireZoom(admitted, cached, deps), deps)
  return deps.tilesets.require(version, admitted.dataset).then(async () => {
    const stored = await archives.read(version, tile)
    if (stored === null) throw await deps.tilesets.notReady(version, admitted.dataset)
    return respond(admitted, requireZoom(admitted, stored, deps), deps)
  })
}

/** A tile that is made for the request: of a filter, or with sums of columns. */
async function madeTile(admitted: AdmittedTile, deps: TileDeps): Promise<DataResponse> {
  const { exchange, version, tile, query } = admitted
  const built = await deps.tilesets.require(version, admitted.dataset)
  const { maxZoom, cellZoom, sha256 } = built
  if (tile.z > maxZoom) throw deeperThan(maxZoom)
  const shown = {
    address: tile,
    isDeepest: tile.z === maxZoom,
    hasCells: cellZoom === undefined ? undefined : tile.z <= cellZoom,
    query: query.selection,
    by: query.by,
  }
  const client = { owner: admitted.grant.owner, disconnected: exchange.disconnected() }
  const bytes = await deps.tilesets.dynamic.tile(version, shown, client)
  // What a tile shows depends on the deepest zoom, so it changes with the archive.
  const [high, low] = hash64(`${sha256}\n${version.snapshot}\n${exchange.url}`)
  const etag = `"${high.toString(36)}.${low.toString(36)}"`
  return respond(admitted, { bytes: bytes.length === 0 ? null : bytes, etag, build: buildOf(built) }, deps)
}

/** Tiles of the archive end at its deepest zoom: deeper ones are not empty, they do not exist. */
function requireZoom(
  { version, tile }: AdmittedTile,
  stored: StoredTile,
  { tilesets }: TileDeps,
): StoredTile {
  if (stored.bytes !== null) return stored
  const maxZoom = tilesets.archives.maxZoom(version)
  if (maxZoom !== null && tile.z > maxZoom) throw deeperThan(maxZoom)
  return stored
}

function deeperThan(maxZoom: number) {
  return notFound(`tile matrix above ${maxZoom}: enlarge the tiles of ${maxZoom}`)
}

function respond(
  { exchange, grant, dataset, query }: AdmittedTile,
  { bytes, etag, build }: StoredTile,
  { meter }: TileDeps,
): MaybePromise<DataResponse> {
  meter.record(grant, { operation: 'tiles', table: dataset.table, format: mvt.name })
  const { headers } = exchange.request
  const isPlain = preferredEncoding(headers['accept-encoding'], STORED) !== 'gzip'
  const tag = isPlain ? `${etag.slice(0, -1)}.plain"` : etag
  exchange.addHeaderLines(VARY_LINE)
  const isImmutable = query.version !== undefined && query.build === build
  exchange.addHeaderLines(
    grant.scope === 'anonymous'
      ? isImmutable
        ? OPEN_IMMUTABLE_LINE
        : OPEN_LINE
      : isImmutable
        ? IMMUTABLE_LINE
        : CURRENT_LINE,
  )
  exchange.setHeader('etag', tag)
  if (matchesEtag(headers['if-none-match'], tag)) return emptyResponse(304)
  if (bytes === null) return emptyResponse(204)
  if (isPlain) {
    exchange.addHeaderLines(TYPE_LINE)
    return inflate(bytes).then((plain) => responseOf(200, plain))
  }
  exchange.addHeaderLines(STORED_LINES)
  return bytes.length > MAX_COPIED_BYTES ? responseOf(200, bytes) : copiedResponse(bytes)
}

/** A copy with room for the head before it, so that both are one write: that takes less time than two. */
function copiedResponse(bytes: Buffer): DataResponse {
  const { buffer, sizeClass } = takeBuffer(HEAD_ROOM + bytes.length)
  const end = HEAD_ROOM + bytes.copy(buffer, HEAD_ROOM)
  const release = () => releaseBuffer(sizeClass, buffer)
  return { status: 200, text: '', bytes: buffer, start: HEAD_ROOM, end, pieces: NO_PIECES, release }
}
