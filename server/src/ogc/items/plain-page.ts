import { PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import { type FilterPlan, readPieces, type Selected, type TimedWork } from '@wayleave/query'
import { type DataResponse, HEAD_ROOM } from '../../http/sockets/data-response.ts'
import { CompressedPages, codedTag, type PageCoding, type PageInMemory } from '../write/compress-page.ts'
import { PAGE_TAIL } from '../write/geojson-page.ts'
import { linkQuery } from '../write/links.ts'
import { releaseBuffer, takeBuffer } from '../write/page-buffers.ts'
import { pageHeadText } from '../write/page-head-text.ts'
import { geojsonHead, type ItemsDeps, type PageRequest, pageTag } from './items-page.ts'

/**
 * Pages whose pieces have at least this average size, in bytes, are sent directly from the pack's cached
 * blocks. Smaller pieces are copied together: that costs less, and a stalled client would otherwise keep many
 * blocks in memory.
 */
const MIN_PIECE_BYTES = 1 << 14

const NO_BYTES = Buffer.alloc(0)
const NO_PIECES: readonly Buffer[] = []

/** Reused for every page that is completed synchronously. */
const scratchRuns = new PositionRuns()

/** A plain page is GeoJSON as it is in the pack: a head, bytes of the pack, and a tail. */
export async function readPlainPage(
  page: PageRequest,
  snapshot: Snapshot,
  selected: Selected,
  matched: number | null,
  work: TimedWork,
  now: Date,
): Promise<DataResponse> {
  const pieces = [...(await readPieces(snapshot, selected.runs, work)), PAGE_TAIL]
  const text = pageHeadText(geojsonHead(page, selected, matched, now))
  return { status: 200, text, bytes: NO_BYTES, start: 0, end: 0, pieces, release() {} }
}

/**
 * The same, synchronously; null if something has to be read or the page has to be shortened. No other code runs
 * between the cache lookup and the copy.
 */
export function plainPageInMemory(
  page: PageRequest,
  plan: FilterPlan | null,
  limit: number,
  { engine, snapshots, clock, workload }: ItemsDeps,
): { response: DataResponse; returned: number } | null {
  const snapshot = snapshots.peek(page.version.snapshot)
  if (snapshot === null) return null
  const selected = engine.pageSync(snapshot, page.query, plan, { after: page.after, limit }, scratchRuns)
  if (selected === null) return null
  const matched = engine.countSync(snapshot, page.query, plan, { after: page.after, selected })
  if (matched === undefined) return null
  const { runs } = selected
  const length = snapshot.bytesOf(runs)
  if (length > workload.pageBytes) return null
  const text = pageHeadText(geojsonHead(page, selected, matched, clock()))
  const pieces = length >= Math.max(2, runs.length) * MIN_PIECE_BYTES ? snapshot.piecesInMemory(runs) : null
  const start = HEAD_ROOM + text.length
  const { buffer: bytes, sizeClass } = takeBuffer(start + (pieces ? 0 : length + PAGE_TAIL.length))
  const release = () => releaseBuffer(sizeClass, bytes)
  const returned = runs.count
  if (pieces) {
    const all = [...pieces, PAGE_TAIL]
    return { returned, response: { status: 200, text, bytes, start, end: start, pieces: all, release } }
  }
  const copied = snapshot.copyRuns(runs, bytes, start)
  if (copied === -1) {
    release()
    return null
  }
  const end = copied + PAGE_TAIL.copy(bytes, copied)
  return { returned, response: { status: 200, text, bytes, start, end, pieces: NO_PIECES, release } }
}

const compressedPages = new CompressedPages()

/** The same in a content coding, if the page is large enough. It is cached, so that it is compressed once. */
export function compressedPageInMemory(
  page: PageRequest,
  plan: FilterPlan | null,
  limit: number,
  coding: PageCoding,
  deps: ItemsDeps,
): PageInMemory | null {
  const tag = codedTag(pageTag(page, limit, false), coding)
  // The query without a key, which is never part of the page.
  const key = `${tag}\n${page.dataset.table}\n${linkQuery(page.query.pairs, [])}`
  return compressedPages.get(key, coding, () => plainPageInMemory(page, plan, limit, deps))
}
