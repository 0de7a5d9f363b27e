import { PositionRuns, type Snapshot } from '@wayleave/geodata/features'
import { type FilterPlan, type MaybeUnfinished, readPieces, Unfinished } from '@wayleave/query'
import { type DataResponse, HEAD_ROOM } from '../../http/sockets/data-response.ts'
import { CompressedPages, codedTag, type PageCoding, type PageInMemory } from '../write/compress-page.ts'
import { PAGE_TAIL } from '../write/geojson-page.ts'
import { linkQuery } from '../write/links.ts'
import { releaseBuffer, takeBuffer } from '../write/page-buffers.ts'
import { pageHeadText } from '../write/page-head-text.ts'
import { geojsonHead, type ItemsDeps, type PageRequest, pageTag } from './items-page.ts'
import { KeptPages, type MadePage } from './kept-pages.ts'
import { type SelectedPage, selectPage } from './select-page.ts'

/**
 * Pages whose pieces have at least this average size, in bytes, are sent directly from the pack's cached
 * blocks. Smaller pieces are copied together, which costs less.
 */
const MIN_PIECE_BYTES = 1 << 12

const NO_BYTES = Buffer.alloc(0)
const NO_PIECES: readonly Buffer[] = []

/**
 * A plain page is GeoJSON as it is in the pack: a head, bytes of the pack, and a tail. Unfinished if the bytes have to
 * be read. No other code runs between the cache lookup and the copy.
 */
export function plainPage(
  page: PageRequest,
  snapshot: Snapshot,
  { selected, matched }: SelectedPage,
  now: Date,
): MaybeUnfinished<DataResponse> {
  const { runs } = selected
  const text = pageHeadText(geojsonHead(page, selected, matched, now))
  const length = snapshot.bytesInMemory(runs)
  if (Number.isNaN(length)) return readPlainPage(text, snapshot, runs)
  const cached = length >= Math.max(2, runs.length) * MIN_PIECE_BYTES ? snapshot.piecesInMemory(runs) : null
  const start = HEAD_ROOM + text.length
  const { buffer: bytes, sizeClass } = takeBuffer(start + (cached ? 0 : length + PAGE_TAIL.length))
  const release = () => releaseBuffer(sizeClass, bytes)
  if (cached) {
    const pieces = [...cached, PAGE_TAIL]
    return { status: 200, text, bytes, start, end: start, pieces, release }
  }
  const copied = snapshot.copyRuns(runs, bytes, start)
  if (copied !== -1) {
    const end = copied + PAGE_TAIL.copy(bytes, copied)
    return { status: 200, text, bytes, start, end, pieces: NO_PIECES, release }
  }
  release()
  return readPlainPage(text, snapshot, runs)
}

/** A plain page whose bytes have to be read. */
function readPlainPage(text: string, snapshot: Snapshot, runs: PositionRuns): Unfinished<DataResponse> {
  return new Unfinished(async (work) => {
    const pieces = [...(await readPieces(snapshot, runs, work)), PAGE_TAIL]
    return { status: 200, text, bytes: NO_BYTES, start: 0, end: 0, pieces, release() {} }
  })
}

/** A page that could not be completed in memory, and what was found of it. */
export class StartedPage {
  readonly snapshot: Snapshot
  readonly selecting: MaybeUnfinished<SelectedPage>

  constructor(snapshot: Snapshot, selecting: MaybeUnfinished<SelectedPage>) {
    this.snapshot = snapshot
    this.selecting = selecting
  }
}

/** The positions of a page that was completed synchronously, for the next page. */
let spareRuns: PositionRuns | null = null

const keptPages = new KeptPages()

/** A plain page if everything it needs is in memory; null if its snapshot is not open. */
export function plainPageInMemory(
  page: PageRequest,
  plan: FilterPlan | null,
  limit: number,
  deps: Pick<ItemsDeps, 'engine' | 'snapshots' | 'clock' | 'workload'>,
): MadePage | StartedPage | null {
  const kept = keptPages.page(page, limit, deps)
  if (kept !== null) return kept
  const { engine, snapshots, clock, workload } = deps
  const snapshot = snapshots.peek(page.version.snapshot)
  if (snapshot === null) return null
  const found = keptPages.found(page, limit, deps)
  if (found !== null) return pageAgain(page, snapshot, found, clock())
  const runs = spareRuns ?? new PositionRuns()
  spareRuns = null
  const selecting = selectPage(snapshot, page, plan, { limit, runs }, engine)
  // The size of a page whose offsets have to be read is NaN.
  if (selecting instanceof Unfinished || !(snapshot.bytesInMemory(runs) <= workload.pageBytes))
    return new StartedPage(snapshot, selecting)
  const response = plainPage(page, snapshot, selecting, clock())
  if (response instanceof Unfinished) return new StartedPage(snapshot, selecting)
  spareRuns = runs
  keptPages.keep(page, limit, selecting, response)
  return { response, returned: runs.count }
}

/** A page whose features were found before. */
function pageAgain(
  page: PageRequest,
  snapshot: Snapshot,
  found: SelectedPage,
  now: Date,
): MadePage | StartedPage {
  const { runs, more } = found.selected
  const response = plainPage(page, snapshot, found, now)
  if (!(response instanceof Unfinished)) return { response, returned: runs.count }
  // Who continues with the page may shorten its positions.
  return new StartedPage(snapshot, { ...found, selected: { runs: runs.copy(), more } })
}

const compressedPages = new CompressedPages()

/** The same in a content coding, if the page is large enough. It is cached, so that it is compressed once. */
export function compressedPageInMemory(
  page: PageRequest,
  plan: FilterPlan | null,
  limit: number,
  coding: PageCoding,
  deps: ItemsDeps,
): PageInMemory | StartedPage | null {
  // Too small to be compressed.
  const kept = keptPages.page(page, limit, deps)
  if (kept !== null) return kept
  const tag = codedTag(pageTag(page, limit, false), coding)
  // The query without a key, which is never part of the page.
  const key = `${tag}\n${page.dataset.table}\n${linkQuery(page.query.pairs, [])}`
  const cached = compressedPages.get(key, coding)
  if (cached !== null) return cached
  const made = plainPageInMemory(page, plan, limit, deps)
  return made === null || made instanceof StartedPage ? made : compressedPages.add(key, coding, made)
}
