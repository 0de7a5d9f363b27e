import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Dataset } from '../catalog/dataset.ts'
import type { App } from '../http/frame.ts'
import { matchesEtag } from '../http/matches-etag.ts'
import { type Grant, requireAddOn, requirePermission } from '../keys/grant.ts'
import { writeCsv } from './csv-page.ts'
import { csv, type Encoding, flatgeobuf, geojson, geojsonSeq, html, jsonFg, ndjson } from './encodings.ts'
import { writeFlatgeobuf } from './flatgeobuf-page.ts'
import { PAGE_TAIL, pageLinks, writeGeojson, writeGeojsonSeq, writeNdjson } from './geojson-page.ts'
import { writeItemsHtml } from './html/features.ts'
import {
  geojsonHead,
  type ItemsParts,
  isPlain,
  nextCursor,
  type PageRequest,
  pageTag,
  timeText,
} from './items-page.ts'
import { readItemsQuery } from './items-query.ts'
import { writeJsonFg } from './json-fg-page.ts'
import { linkHeader, ROOT } from './links.ts'
import type { PageHead, WritePage } from './page-content.ts'
import { pageHeadText } from './page-head-text.ts'
import { planConditions } from './plan-conditions.ts'
import { readQuery } from './query-string.ts'
import { readBlock, readPieces } from './read-selected.ts'
import { CACHE_CONTROL, CONTENT_SECURITY_POLICY, VARY } from './respond.ts'
import type { Selected } from './selected.ts'

const WRITERS = new Map<Encoding, WritePage>([
  [geojson, writeGeojson],
  [jsonFg, writeJsonFg],
  [ndjson, writeNdjson],
  [geojsonSeq, writeGeojsonSeq],
  [csv, writeCsv],
  [flatgeobuf, writeFlatgeobuf],
  [html, writeItemsHtml],
])

export const ITEMS_ROUTE = `${ROOT}/collections/:table/items`

export function itemsRoutes(app: App, parts: ItemsParts): void {
  app.get(ITEMS_ROUTE, (request, reply) => sendItems(request, reply, parts))
}

/** The key of the request and the dataset it asks for, which the key may read. */
export async function admit(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticate, catalog }: Pick<ItemsParts, 'authenticate' | 'catalog'>,
): Promise<{ grant: Grant; dataset: Dataset }> {
  const grant = await authenticate.key(request, reply)
  requireAddOn(grant, 'GIS_ACCESS')
  const dataset = await catalog.find((request.params as { table: string }).table)
  requirePermission(grant, 'read', dataset.table)
  return { grant, dataset }
}

async function sendItems(request: FastifyRequest, reply: FastifyReply, parts: ItemsParts) {
  const { dailyFeatures, meter } = parts
  const { grant, dataset } = await admit(request, reply, parts)
  const query = readItemsQuery(readQuery(request.url), request.headers.accept, dataset, parts)
  const start = await parts.items.start(dataset, query)
  const plan = query.conditions && planConditions(query.conditions, start.version)
  const page = { ...start, dataset, base: parts.baseUrl.of(request), query }
  const allowance = await dailyFeatures.take(grant.payer, query.limit)
  const limit = allowance.count
  let returned = 0
  try {
    const tag = pageTag(page, limit)
    reply.header('vary', VARY).header('cache-control', CACHE_CONTROL).header('etag', tag)
    meter.record(grant, { operation: 'items', table: dataset.table, format: query.encoding.name })
    if (matchesEtag(request.headers['if-none-match'], tag)) return reply.code(304).send()
    reply.header('content-crs', query.crs.header)
    const body = await parts.snapshots.use(page.version.snapshot, async (snapshot) => {
      const reading = { after: page.after, limit, signal: () => goneSignal(reply) }
      const selected = await parts.items.select(snapshot, query, plan, reading)
      returned = selected.runs.count
      const matched = await parts.items.count(snapshot, query, plan, selected)
      const write = isPlain(query) ? plainBody : otherBody
      return write(reply, page, snapshot, selected, matched, parts.clock())
    })
    return reply.send(body)
  } finally {
    dailyFeatures.giveBack(grant.payer, allowance, limit - returned)
  }
}

type WriteBody = (
  reply: FastifyReply,
  page: PageRequest,
  snapshot: Snapshot,
  selected: Selected,
  matched: number | null,
  now: Date,
) => Promise<Buffer>

const plainBody: WriteBody = async (reply, page, snapshot, selected, matched, now) => {
  reply.header('content-type', geojson.mediaType)
  const pieces = await readPieces(snapshot, selected.runs)
  const head = pageHeadText(geojsonHead(page, selected, matched, now))
  return Buffer.concat([Buffer.from(head, 'latin1'), ...pieces, PAGE_TAIL])
}

/** A page in another form than the pack has. */
const otherBody: WriteBody = async (reply, page, snapshot, selected, matched, now) => {
  const { dataset, version, base, query } = page
  const head: PageHead = {
    links: pageLinks(dataset, base, query.pairs, query.encoding, nextCursor(page, selected)),
    returned: selected.runs.count,
    matched,
    timeStamp: timeText(now),
  }
  setHeaders(reply, dataset, query.encoding, head)
  const block = await readBlock(snapshot, selected.runs)
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
