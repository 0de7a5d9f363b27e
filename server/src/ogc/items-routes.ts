import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../catalog/catalog.ts'
import type { Dataset, Version } from '../catalog/dataset.ts'
import type { OpenSnapshots } from '../catalog/open-snapshots.ts'
import type { Clock } from '../clock.ts'
import type { Authenticate } from '../http/authenticate.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { App } from '../http/frame.ts'
import { type Grant, requireAddOn, requirePermission } from '../keys/grant.ts'
import type { Meter } from '../usage/meter.ts'
import type { FilterPlan } from './cql2/plan-filter.ts'
import { CRS84, type CrsList } from './crs-list.ts'
import { writeCsv } from './csv-page.ts'
import { writeCursor } from './cursor.ts'
import type { DailyFeatures } from './daily-features.ts'
import { csv, type Encoding, flatgeobuf, geojson, geojsonSeq, html, jsonFg, ndjson } from './encodings.ts'
import { writeFlatgeobuf } from './flatgeobuf-page.ts'
import { PAGE_TAIL, pageHead, pageLinks, writeGeojson, writeGeojsonSeq, writeNdjson } from './geojson-page.ts'
import { writeItemsHtml } from './html/features.ts'
import type { Items } from './items.ts'
import { type ItemsQuery, readItemsQuery } from './items-query.ts'
import { writeJsonFg } from './json-fg-page.ts'
import { linkHeader, ROOT } from './links.ts'
import type { PageHead, WritePage } from './page-content.ts'
import { planConditions } from './plan-conditions.ts'
import { readQuery } from './query-string.ts'
import { readBlock, readPieces } from './read-selected.ts'
import { CACHE_CONTROL, CONTENT_SECURITY_POLICY, isUnchanged, VARY, weakTag } from './respond.ts'
import { positionAt, type Selected } from './selected.ts'

export interface ItemsRouteParts {
  authenticate: Authenticate
  baseUrl: BaseUrl
  catalog: Catalog
  clock: Clock
  crsList: CrsList
  dailyFeatures: DailyFeatures
  items: Items
  keyInUrl: boolean
  meter: Meter
  snapshots: OpenSnapshots
}

const WRITERS = new Map<Encoding, WritePage>([
  [geojson, writeGeojson],
  [jsonFg, writeJsonFg],
  [ndjson, writeNdjson],
  [geojsonSeq, writeGeojsonSeq],
  [csv, writeCsv],
  [flatgeobuf, writeFlatgeobuf],
  [html, writeItemsHtml],
])

export function itemsRoutes(app: App, parts: ItemsRouteParts): void {
  app.get(`${ROOT}/collections/:table/items`, (request, reply) => sendItems(request, reply, parts))
}

/** The key of the request and the dataset it asks for, which the key may read. */
export async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticate, catalog }: Pick<ItemsRouteParts, 'authenticate' | 'catalog'>,
): Promise<{ grant: Grant; dataset: Dataset }> {
  const grant = await authenticate.key(request, reply)
  requireAddOn(grant, 'GIS_ACCESS')
  const found = catalog.find((request.params as { table: string }).table)
  const dataset = found instanceof Promise ? await found : found
  requirePermission(grant, 'read', dataset.table)
  return { grant, dataset }
}

async function sendItems(request: FastifyRequest, reply: FastifyReply, parts: ItemsRouteParts) {
  const { grant, dataset } = await admit(request, reply, parts)
  const { items, snapshots, meter, dailyFeatures } = parts
  const query = readItemsQuery(readQuery(request.url), request.headers.accept, dataset, parts)
  const begun = items.start(dataset, query)
  const { version, after } = begun instanceof Promise ? await begun : begun
  const plan = query.conditions && planConditions(query.conditions, version)
  const base = parts.baseUrl.of(request)
  const { encoding } = query
  const taking = dailyFeatures.take(grant.keyId, query.limit)
  const limit = typeof taking === 'number' ? taking : await taking
  let returned = 0
  try {
    const tag = weakTag(version.snapshot, dataset.updatedAt, base, request.url, encoding.mediaType, limit)
    reply.header('vary', VARY).header('cache-control', CACHE_CONTROL).header('etag', tag)
    meter.record(grant, { operation: 'items', table: dataset.table, format: encoding.name })
    if (isUnchanged(request, tag)) return reply.code(304).send()
    const body = await snapshots.use(version.snapshot, async (snapshot) => {
      const reading = { after, limit, signal: () => goneSignal(reply) }
      const chosen = items.select(snapshot, query, plan, reading)
      const selected = chosen instanceof Promise ? await chosen : chosen
      returned = selected.count
      const counted = items.count(snapshot, query, plan, selected)
      const matched = counted instanceof Promise ? await counted : counted
      return pageBody(
        { parts, dataset, version, base, query, plan, snapshot, after },
        selected,
        matched,
        reply,
      )
    })
    return reply.send(body)
  } finally {
    dailyFeatures.giveBack(grant.keyId, limit - returned)
  }
}

interface PageParts {
  parts: ItemsRouteParts
  dataset: Dataset
  version: Version
  base: string
  query: ItemsQuery
  plan: FilterPlan | null
  snapshot: Snapshot
  after: number
}

async function pageBody(
  { parts, dataset, version, base, query, snapshot, after }: PageParts,
  selected: Selected,
  matched: number | null,
  reply: FastifyReply,
): Promise<Buffer> {
  const { encoding, crs } = query
  const last = selected.count === 0 ? after : positionAt(selected, selected.count - 1)
  const next = selected.more
    ? writeCursor({ version: version.version, position: last }, `${dataset.table}\n${query.selection}`)
    : null
  const head: PageHead = {
    links: pageLinks(dataset, base, query.pairs, encoding, next),
    returned: selected.count,
    matched,
    timeStamp: parts.clock().toISOString(),
  }
  reply.header('content-crs', `<${crs.uri}>`)
  if (encoding === geojson && crs === CRS84 && query.shown === null) {
    reply.header('content-type', encoding.mediaType)
    const pieces = await readPieces(snapshot, selected)
    return Buffer.concat([Buffer.from(pageHead(head)), ...pieces, PAGE_TAIL])
  }
  setHeaders(reply, dataset, encoding, head)
  const block = await readBlock(snapshot, selected)
  const { manifest } = version
  return WRITERS.get(encoding)!({ dataset, manifest, folder: snapshot.folder, base, query, head, block })
}

/** Encodings without a place for them have links and numbers in headers. */
function setHeaders(reply: FastifyReply, { table }: Dataset, encoding: Encoding, head: PageHead): void {
  const isText = encoding === csv || encoding === html
  reply.header('content-type', isText ? `${encoding.mediaType}; charset=utf-8` : encoding.mediaType)
  if (encoding === html) {
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY).header('referrer-policy', 'same-origin')
    return
  }
  if (encoding === geojson || encoding === jsonFg) return
  reply.header('link', linkHeader(head.links)).header('ogc-numberreturned', head.returned)
  if (head.matched !== null) reply.header('ogc-numbermatched', head.matched)
  const extension = encoding === geojsonSeq ? 'geojsons' : encoding.name
  reply.header('content-disposition', `attachment; filename="${table}.${extension}"`)
}

/** Aborts when the client leaves before its answer. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (reply.raw.destroyed) gone.abort()
  reply.raw.once('close', () => {
    if (!reply.raw.writableEnded) gone.abort()
  })
  return gone.signal
}
