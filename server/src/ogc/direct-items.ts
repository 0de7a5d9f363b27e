import { PositionRuns } from '@wayleave/geodata/snapshot/position-runs.ts'
import type { Dataset } from '../catalog/dataset.ts'
import { type DirectBody, type DirectRoute, HEAD_ROOM } from '../http/direct-answers.ts'
import { type Grant, requireAddOn, requirePermission } from '../keys/grant.ts'
import { CRS84 } from './crs-list.ts'
import { geojson } from './encodings.ts'
import { PAGE_TAIL } from './geojson-page.ts'
import { geojsonHead, type ItemsParts, isPlain, type PageRequest, pageTag } from './items-page.ts'
import { readItemsQuery } from './items-query.ts'
import { ROOT } from './links.ts'
import { giveBack, takeBuffer } from './page-buffers.ts'
import { pageHeadText } from './page-head-text.ts'
import { readQuery } from './query-string.ts'
import { CACHE_CONTROL, VARY } from './respond.ts'

const BEFORE = `${ROOT}/collections/`
const AFTER = '/items'
const HEADERS = `vary: ${VARY}\r\ncache-control: ${CACHE_CONTROL}\r\ncontent-crs: ${CRS84.header}\r\ncontent-type: ${geojson.mediaType}\r\n`

/**
 * Pages of large pieces are sent from the pack's blocks themselves. Of smaller ones a copy costs less, and a
 * reader that stops would hold many blocks for little.
 */
const LEAST_PIECE_BYTES = 1 << 14

/** Those of a page that is answered before any other begins. */
const scratch = new PositionRuns()

/**
 * The page that nearly everyone asks for, where all that it needs is in memory: the key, the dataset, the open
 * snapshot, its geometries and the bytes. The rules are those of the ordinary way, in its order.
 */
export function directItems(parts: ItemsParts): DirectRoute {
  const { authenticate, baseUrl, catalog } = parts
  return (request, caller) => {
    const url = request.url!
    const { headers } = request
    if (headers['if-none-match'] !== undefined) return null
    const table = tableIn(url)
    const grant = table === null ? null : authenticate.peekKey(request)
    if (table === null || grant === null) return null
    requireAddOn(grant, 'GIS_ACCESS')
    const dataset = catalog.peek(table)
    if (dataset === null) return null
    requirePermission(grant, 'read', dataset.table)
    const query = readItemsQuery(readQuery(url), headers.accept, dataset, parts)
    if (!isPlain(query) || query.conditions !== null || query.sort.length > 0) return null
    const start = parts.items.startAtOnce(dataset, query)
    if (start === null) return null
    return answer(parts, grant, { ...start, dataset, base: baseUrl.of(caller), query })
  }
}

/** The table of an address that has nothing unusual before its query. */
function tableIn(url: string): string | null {
  const mark = url.indexOf('?', BEFORE.length)
  const end = (mark === -1 ? url.length : mark) - AFTER.length
  return end > BEFORE.length && url.startsWith(AFTER, end) ? url.slice(BEFORE.length, end) : null
}

function answer(parts: ItemsParts, grant: Grant, page: PageRequest): DirectBody | null {
  const { dailyFeatures, authenticate, meter } = parts
  const { dataset, query } = page
  const allowance = dailyFeatures.takeAtOnce(grant.payer, query.limit)
  if (allowance === null) return null
  const limit = allowance.count
  const body = bodyInMemory(parts, page, limit)
  dailyFeatures.giveBack(grant.payer, allowance, limit - (body?.returned ?? 0))
  if (body === null) return null
  const [policy, state] = authenticate.countPeeked(grant)
  meter.record(grant, { operation: 'items', table: dataset.table, format: geojson.name })
  const { text, bytes, start, end, pieces, shelf } = body
  return {
    text,
    bytes,
    start,
    end,
    pieces,
    headers: `${HEADERS}etag: ${pageTag(page, limit)}\r\nratelimit-policy: ${policy}\r\nratelimit: ${state}\r\n`,
    path: pathOf(dataset),
    giveBack: () => giveBack(shelf, bytes),
  }
}

/** The same text for all, so that the log sees at once that it is. */
function pathOf(dataset: Dataset): string {
  let path = paths.get(dataset)
  if (path === undefined) {
    path = BEFORE + dataset.table + AFTER
    paths.set(dataset, path)
  }
  return path
}

const paths = new WeakMap<Dataset, string>()

interface PageBody {
  text: string
  bytes: Buffer
  start: number
  end: number
  pieces: Buffer[]
  shelf: number
  returned: number
}

/** Nothing is awaited between the look into the cache and the copy. */
function bodyInMemory(parts: ItemsParts, page: PageRequest, limit: number): PageBody | null {
  const { items, snapshots, clock } = parts
  const snapshot = snapshots.peek(page.version.snapshot)
  if (snapshot === null) return null
  const selected = items.selectAtOnce(snapshot, page.query, { after: page.after, limit }, scratch)
  if (selected === null) return null
  const matched = items.countAtOnce(snapshot, page.query, selected)
  if (matched === undefined) return null
  const { runs } = selected
  const text = pageHeadText(geojsonHead(page, selected, matched, clock()))
  const length = snapshot.bytesOf(runs)
  const pieces = length >= Math.max(2, runs.length) * LEAST_PIECE_BYTES ? snapshot.piecesInMemory(runs) : null
  const start = HEAD_ROOM + text.length
  const { buffer: bytes, shelf } = takeBuffer(start + (pieces ? 0 : length + PAGE_TAIL.length))
  const returned = runs.count
  if (pieces) return { text, bytes, start, end: start, pieces: [...pieces, PAGE_TAIL], shelf, returned }
  const copied = snapshot.copyRuns(runs, bytes, start)
  if (copied === -1) {
    giveBack(shelf, bytes)
    return null
  }
  const end = copied + PAGE_TAIL.copy(bytes, copied)
  return { text, bytes, start, end, pieces: NONE, shelf, returned }
}

const NONE: Buffer[] = []
