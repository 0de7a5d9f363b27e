import type { FastifyReply, FastifyRequest } from 'fastify'
import { authRequestOf, keyQueryOf } from '../../accounts/access/authenticate.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { notFound } from '../../base/problem.ts'
import type { BaseUrl } from '../../http/base-url.ts'
import type { App } from '../../http/fastify-app.ts'
import type { DataRoute } from '../../http/sockets/data-response.ts'
import { exchangeOf } from '../../http/sockets/fastify-transport.ts'
import { admit, readCharged, tableOf } from '../items/admit.ts'
import { type Encoding, json, negotiate, TILE_DOCUMENT_ENCODINGS, tileJson } from '../request/encodings.ts'
import { parameterOf, type QueryPair, readQuery, refuseUnknown } from '../request/query-string.ts'
import { ROOT, selfAndAlternates } from '../write/links.ts'
import { sendDocument } from '../write/respond.ts'
import { readStyleRequest, requestedStyle, STYLE_PARAMETERS, type StyleDeps } from './style-request.ts'
import { tileMatrixSet, WEB_MERCATOR_QUAD } from './tile-matrix-set.ts'
import { TILE_PATTERN, tableInTileUrl } from './tile-path.ts'
import { type TileDeps, tileResponse } from './tile-response.ts'
import { hasTiles } from './tile-states.ts'
import { tileJsonDocument, tileMatrixSets, tilesetDocument, tilesets } from './tileset-documents.ts'

export interface TileRoutesDeps extends TileDeps, StyleDeps {
  baseUrl: BaseUrl
}

const JSON_ONLY = [json]

/** The documents of OGC API - Tiles, Part 1: tile matrix sets, tilesets, TileJSON and a style. */
export function tileRoutes(app: App, deps: TileRoutesDeps): void {
  const { authenticate, baseUrl, meter, tilesets: sets } = deps
  const own = ['f']

  const read = (
    request: FastifyRequest,
    encodings: readonly Encoding[],
    parameters: readonly string[] = own,
  ) => {
    const pairs = readQuery(request.url)
    refuseUnknown(pairs, parameters)
    const encoding = negotiate(encodings, parameterOf(pairs, 'f'), request.headers.accept)
    return { base: baseUrl.of(request), pairs, encoding }
  }
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    encoding: Encoding,
    document: object,
    grant: Grant | null = null,
  ) => sendDocument(request, reply, encoding, JSON.stringify(document), grant)
  const linksOf = (url: string, pairs: readonly QueryPair[], encodings: readonly Encoding[], one: Encoding) =>
    selfAndAlternates(url, pairs, encodings, one)

  app.get(`${ROOT}/tileMatrixSets`, async (request, reply) => {
    await authenticate.optionalKey(request, reply)
    const { base, pairs, encoding } = read(request, JSON_ONLY)
    const links = linksOf(`${base}${ROOT}/tileMatrixSets`, pairs, JSON_ONLY, encoding)
    return send(request, reply, encoding, tileMatrixSets(base, links))
  })

  app.get(`${ROOT}/tileMatrixSets/:tileMatrixSetId`, async (request, reply) => {
    await authenticate.optionalKey(request, reply)
    const { encoding } = read(request, JSON_ONLY)
    requireMatrixSet(request)
    return send(request, reply, encoding, tileMatrixSet())
  })

  app.get(`${ROOT}/collections/:table/tiles`, async (request, reply) => {
    const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), deps, 'tiles')
    const { base, pairs, encoding } = read(request, JSON_ONLY)
    meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
    if (!hasTiles(dataset)) throw notFound(`tileset of the dataset "${dataset.table}"`)
    const url = `${base}${ROOT}/collections/${dataset.table}/tiles`
    const document = tilesets(dataset, base, linksOf(url, pairs, JSON_ONLY, encoding))
    return send(request, reply, encoding, document, grant)
  })

  const versioned = [...own, 'version']

  app.get(`${ROOT}/collections/:table/tiles/:tileMatrixSetId`, async (request, reply) => {
    const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), deps, 'tiles')
    const { base, pairs, encoding } = read(request, TILE_DOCUMENT_ENCODINGS, versioned)
    requireMatrixSet(request)
    meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
    const version = await sets.versionOf(grant, dataset, parameterOf(pairs, 'version'))
    const tileset = await sets.describe(version, dataset)
    const url = `${base}${ROOT}/collections/${dataset.table}/tiles/${WEB_MERCATOR_QUAD}`
    const document =
      encoding === tileJson
        ? tileJsonDocument(tileset, base, keyQueryOf(request.raw))
        : tilesetDocument(tileset, base, linksOf(url, pairs, TILE_DOCUMENT_ENCODINGS, encoding))
    return send(request, reply, encoding, document, grant)
  })

  app.get(`${ROOT}/collections/:table/style`, async (request, reply) => {
    const { grant, dataset } = await admit(authRequestOf(request, reply), tableOf(request), deps, 'tiles')
    const { base, pairs, encoding } = read(request, JSON_ONLY, [...versioned, ...STYLE_PARAMETERS])
    const asked = readCharged(grant, deps, () => readStyleRequest(pairs, dataset, deps))
    meter.record(grant, { operation: 'collections', table: dataset.table, format: encoding.name })
    const version = await sets.versionOf(grant, dataset, parameterOf(pairs, 'version'))
    const tileset = await sets.describe(version, dataset)
    const exchange = exchangeOf(request, reply)
    const work = deps.workload.begin(grant.owner, () => exchange.disconnected())
    try {
      const keyQuery = keyQueryOf(request.raw)
      const style = await requestedStyle(tileset, asked, { base, keyQuery, work }, deps)
      return await send(request, reply, encoding, style, grant)
    } finally {
      work.end()
    }
  })
}

/** The route of tiles. */
export function tileRoute(deps: TileDeps): DataRoute {
  return {
    pattern: TILE_PATTERN,
    match: (url) => {
      const table = tableInTileUrl(url)
      return table === null ? null : { table }
    },
    respond: (exchange, { table }) => tileResponse(exchange, table!, deps),
  }
}

function requireMatrixSet(request: FastifyRequest): void {
  const { tileMatrixSetId } = request.params as { tileMatrixSetId: string }
  if (tileMatrixSetId !== WEB_MERCATOR_QUAD)
    throw notFound(`tile matrix set named "${tileMatrixSetId.slice(0, 80)}"`)
}
