import { BoundedCache } from '@wayleave/geodata/base'
import { type DataResponse, HEAD_ROOM } from '../../http/sockets/data-response.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import type { QueryPair } from '../request/query-string.ts'
import { keptPairs } from '../request/read-again.ts'
import { releaseBuffer, takeBuffer } from '../write/page-buffers.ts'
import { type ItemsDeps, type PageRequest, timeText } from './items-page.ts'
import type { SelectedPage } from './select-page.ts'

/** The memory of all kept pages, in bytes. */
const MAX_BYTES = 16 << 20
/** Of larger pages only the positions are kept: few would fill the memory, and most of their time is copying and sending. */
const MAX_PAGE_BYTES = 1 << 14
const MAX_RUNS = 1000
/** What a page takes besides its bytes and its positions, about. */
const MORE_BYTES = 500

const NO_PIECES: readonly Buffer[] = []
const TIME_NAME = '"timeStamp":"'

/** A page that was made in memory. */
export interface MadePage {
  response: DataResponse
  /** The number of its features. */
  returned: number
}

/** What a page depends on besides its query, and what was found of it. */
interface KeptPage {
  query: ItemsQuery
  dataset: PageRequest['dataset']
  snapshot: string
  base: string
  after: number
  limit: number
  found: SelectedPage
  /** The page itself, if it is small. */
  bytes: Buffer | null
  /** Where the time stamp is in the bytes: the only part that is made for each request. */
  timeAt: number
}

type Deps = Pick<ItemsDeps, 'snapshots' | 'engine' | 'clock'>

/**
 * Plain pages of queries that are requested again and again, as maps and lists do: to find a page, to copy its
 * features and to write its links takes a sixth of the time of a page of ten features. A snapshot never changes, so
 * only the time stamp differs.
 *
 * See docs/decisions/kept-pages.md.
 */
export class KeptPages {
  /** By the parameters of the query. */
  readonly #pages = new BoundedCache<readonly QueryPair[], KeptPage>(MAX_BYTES, weightOf)

  /** The finished page, if it is small. */
  page(request: PageRequest, limit: number, deps: Deps): MadePage | null {
    const kept = this.#find(request, limit, deps)
    if (kept === null || kept.bytes === null) return null
    const { bytes, timeAt, found } = kept
    const { buffer, sizeClass } = takeBuffer(HEAD_ROOM + bytes.length)
    bytes.copy(buffer, HEAD_ROOM)
    buffer.write(timeText(deps.clock()), HEAD_ROOM + timeAt, 'latin1')
    const release = () => releaseBuffer(sizeClass, buffer)
    const [start, end] = [HEAD_ROOM, HEAD_ROOM + bytes.length]
    const response = { status: 200, text: '', bytes: buffer, start, end, pieces: NO_PIECES, release }
    return { response, returned: found.selected.runs.count }
  }

  /** The features of the page. They must not be changed. */
  found(request: PageRequest, limit: number, deps: Deps): SelectedPage | null {
    return this.#find(request, limit, deps)?.found ?? null
  }

  /** Keeps a page whose query was requested before. */
  keep(
    { query, dataset, version, base, after }: PageRequest,
    limit: number,
    { selected, matched }: SelectedPage,
    response: DataResponse,
  ): void {
    const { runs, more } = selected
    if (runs.length > MAX_RUNS || !keptPairs.has(query.pairs)) return
    this.#pages.set(query.pairs, {
      ...{ query, dataset, snapshot: version.snapshot, base, after, limit },
      found: { selected: { runs: runs.copy(), more }, matched },
      bytes: copyOf(response),
      // No text of a request or a dataset comes before it.
      timeAt: response.text.indexOf(TIME_NAME) + TIME_NAME.length,
    })
  }

  /** Null if the page depends on something that is not as it was, or if its snapshot is not open. */
  #find(
    { query, dataset, version, base, after }: PageRequest,
    limit: number,
    { snapshots, engine }: Deps,
  ): KeptPage | null {
    const kept = this.#pages.get(query.pairs)
    if (kept === undefined || kept.query !== query || kept.dataset !== dataset || kept.base !== base)
      return null
    if (kept.snapshot !== version.snapshot || kept.after !== after || kept.limit !== limit) return null
    const snapshot = snapshots.peek(kept.snapshot)
    if (snapshot === null) return null
    // Another request may have counted the matches since.
    const isUncounted = kept.found.matched === null && query.count === 'auto'
    return isUncounted && engine.rememberedCount(snapshot, query) !== null ? null : kept
  }
}

function weightOf({ bytes, found }: KeptPage): number {
  return MORE_BYTES + found.selected.runs.bounds.byteLength + (bytes?.length ?? 0)
}

/** The body of a small response; null if it is large. */
function copyOf({ text, bytes, start, end, pieces }: DataResponse): Buffer | null {
  const length = text.length + end - start
  if (pieces.length > 0 || length > MAX_PAGE_BYTES) return null
  const copy = Buffer.allocUnsafeSlow(length)
  copy.write(text, 'latin1')
  bytes.copy(copy, text.length, start, end)
  return copy
}
