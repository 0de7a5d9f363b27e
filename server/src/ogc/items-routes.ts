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
import { hash64, writeCursor } from './cursor.ts'
import type { DailyFeatures } from './daily-features.ts'
import {
  csv,
  type Encoding,
  flatgeobuf,
  geojson,
  geojsonSeq,
  html,
  ITEMS_ENCODINGS,
  jsonFg,
  ndjson,
} from './encodings.ts'
import { writeFlatgeobuf } from './flatgeobuf-page.ts'
import { PAGE_TAIL, pageLinks, writeGeojson, writeGeojsonSeq, writeNdjson } from './geojson-page.ts'
import { writeItemsHtml } from './html/features.ts'
import type { Items, Start } from './items.ts'
import { type ItemsQuery, MOST_LIMIT, readItemsQuery } from './items-query.ts'
import { writeJsonFg } from './json-fg-page.ts'
import { linkHeader, ROOT } from './links.ts'
import type { PageHead, WritePage } from './page-content.ts'
import { type GeojsonHead, pageHeadBound, putPageHead } from './page-head-bytes.ts'
import { planConditions } from './plan-conditions.ts'
import { readQuery } from './query-string.ts'
import { readBlock, readPieces } from './read-selected.ts'
import { CACHE_CONTROL, CONTENT_SECURITY_POLICY, isUnchanged, VARY, weakTag } from './respond.ts'
import { positionAt, type Selected } from './selected.ts'
import { sendAtOnce } from './send-at-once.ts'

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
  const dataset = await catalog.find((request.params as { table: string }).table)
  requirePermission(grant, 'read', dataset.table)
  return { grant, dataset }
}

/**
 * Where everything that a page needs is in memory it is answered without a wait: the key, the dataset, the
 * open snapshot, and the bytes. Whatever is not is waited for.
 */
function sendItems(request: FastifyRequest, reply: FastifyReply, parts: ItemsRouteParts) {
  const grant = parts.authenticate.keyAtOnce(request, reply)
  if (grant instanceof Promise) return grant.then((known) => sendGranted(request, reply, parts, known))
  return sendGranted(request, reply, parts, grant)
}

function sendGranted(request: FastifyRequest, reply: FastifyReply, parts: ItemsRouteParts, grant: Grant) {
  requireAddOn(grant, 'GIS_ACCESS')
  const found = parts.catalog.find((request.params as { table: string }).table)
  if (found instanceof Promise) return found.then((known) => sendDataset(request, reply, parts, grant, known))
  return sendDataset(request, reply, parts, grant, found)
}

function sendDataset(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ItemsRouteParts,
  grant: Grant,
  dataset: Dataset,
) {
  requirePermission(grant, 'read', dataset.table)
  const query = readItemsQuery(readQuery(request.url), request.headers.accept, dataset, parts)
  const start = parts.items.start(dataset, query)
  if (start instanceof Promise) {
    return start.then((begun) => sendFrom(request, reply, parts, grant, dataset, query, begun))
  }
  return sendFrom(request, reply, parts, grant, dataset, query, start)
}

interface PageParts extends Start {
  parts: ItemsRouteParts
  grant: Grant
  dataset: Dataset
  base: string
  query: ItemsQuery
  plan: FilterPlan | null
  /** How many features the page may have: what is asked for, unless the key's day is nearly used up. */
  limit: number
}

function sendFrom(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ItemsRouteParts,
  grant: Grant,
  dataset: Dataset,
  query: ItemsQuery,
  { version, after }: Start,
) {
  const plan = query.conditions && planConditions(query.conditions, version)
  const base = parts.baseUrl.of(request)
  const page = { parts, grant, dataset, version, after, base, query, plan }
  const limit = parts.dailyFeatures.take(grant.keyId, query.limit)
  if (limit instanceof Promise)
    return limit.then((most) => sendPage(request, reply, { ...page, limit: most }))
  return sendPage(request, reply, { ...page, limit })
}

function sendPage(request: FastifyRequest, reply: FastifyReply, page: PageParts) {
  const { parts, grant, dataset, version, base, query, limit } = page
  const { encoding, crs } = query
  const tag = weakTag(
    request.url,
    versionSeed(version, dataset, base),
    limit * 16 + ITEMS_ENCODINGS.indexOf(encoding),
  )
  reply.header('vary', VARY).header('cache-control', CACHE_CONTROL).header('etag', tag)
  parts.meter.record(grant, { operation: 'items', table: dataset.table, format: encoding.name })
  if (isUnchanged(request, tag)) {
    parts.dailyFeatures.giveBack(grant.keyId, limit)
    return reply.code(304).send()
  }
  reply.header('content-crs', crs.header)
  const isPlain = encoding === geojson && crs === CRS84 && query.shown === null
  if (isPlain && sendFromMemory(reply, page)) return undefined
  return sendWaiting(reply, page, isPlain)
}

/** What of a page's content its address does not tell: the version, and what links and titles are made from. */
function versionSeed(version: Version, dataset: Dataset, base: string): number {
  const known = seeds.get(version)
  if (known && known.base === base && known.updatedAt === dataset.updatedAt) return known.seed
  const { updatedAt } = dataset
  const [seed] = hash64(`${version.snapshot}\n${updatedAt}\n${base}`)
  seeds.set(version, { base, updatedAt, seed })
  return seed
}

const seeds = new WeakMap<Version, { base: string; updatedAt: string; seed: number }>()

/** Room for the positions of a page that is answered before any other begins. */
const scratch = new Uint32Array(MOST_LIMIT + 1)

function sendFromMemory(reply: FastifyReply, page: PageParts): boolean {
  const { parts, grant, version, query, plan, after, limit } = page
  const snapshot = parts.snapshots.peek(version.snapshot)
  if (!snapshot) return false
  const into = scratch.subarray(0, limit + 1)
  const selected = parts.items.selectAtOnce(snapshot, query, plan, after, limit, into)
  if (!selected) return false
  const matched = parts.items.count(snapshot, query, plan, selected)
  if (matched instanceof Promise) return false
  reply.header('content-type', query.encoding.mediaType)
  if (!sendAtOnce(reply, geojsonHead(page, selected, matched), snapshot, selected)) return false
  parts.dailyFeatures.giveBack(grant.keyId, limit - selected.count)
  return true
}

async function sendWaiting(reply: FastifyReply, page: PageParts, isPlain: boolean) {
  const { parts, grant, version, query, plan, after, limit } = page
  let returned = 0
  try {
    const body = await parts.snapshots.use(version.snapshot, async (snapshot) => {
      const reading = { after, limit, signal: () => goneSignal(reply) }
      const selected = await parts.items.select(snapshot, query, plan, reading)
      returned = selected.count
      const matched = await parts.items.count(snapshot, query, plan, selected)
      if (!isPlain) return otherBody(reply, page, snapshot, selected, matched)
      reply.header('content-type', query.encoding.mediaType)
      const pieces = await readPieces(snapshot, selected)
      const head = geojsonHead(page, selected, matched)
      const room = Buffer.allocUnsafe(pageHeadBound(head))
      return Buffer.concat([room.subarray(0, putPageHead(head, room)), ...pieces, PAGE_TAIL])
    })
    return reply.send(body)
  } finally {
    parts.dailyFeatures.giveBack(grant.keyId, limit - returned)
  }
}

function nextCursor({ dataset, version, query, after }: PageParts, selected: Selected): string | null {
  if (!selected.more) return null
  const position = selected.count === 0 ? after : positionAt(selected, selected.count - 1)
  return writeCursor({ version: version.version, position }, `${dataset.table}\n${query.selection}`)
}

function geojsonHead(page: PageParts, selected: Selected, matched: number | null): GeojsonHead {
  const { parts, dataset, base, query } = page
  const next = nextCursor(page, selected)
  const timeStamp = timeText(parts.clock())
  return { dataset, base, pairs: query.pairs, next, returned: selected.count, matched, timeStamp }
}

/** Many pages are answered in one millisecond; its text is made once. */
function timeText(now: Date): string {
  const milliseconds = now.getTime()
  if (milliseconds !== lastTime.milliseconds) lastTime = { milliseconds, text: now.toISOString() }
  return lastTime.text
}

let lastTime = { milliseconds: Number.NaN, text: '' }

/** A page in another form than the pack has. */
async function otherBody(
  reply: FastifyReply,
  page: PageParts,
  snapshot: Snapshot,
  selected: Selected,
  matched: number | null,
): Promise<Buffer> {
  const { parts, dataset, version, base, query } = page
  const head: PageHead = {
    links: pageLinks(dataset, base, query.pairs, query.encoding, nextCursor(page, selected)),
    returned: selected.count,
    matched,
    timeStamp: timeText(parts.clock()),
  }
  setHeaders(reply, dataset, query.encoding, head)
  const block = await readBlock(snapshot, selected)
  const { manifest } = version
  return WRITERS.get(query.encoding)!({
    dataset,
    manifest,
    folder: snapshot.folder,
    base,
    query,
    head,
    block,
  })
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
