import { BoundedCache } from '@wayleave/geodata/base'
import { type DataResponse, HEAD_ROOM } from '../../http/sockets/data-response.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import type { QueryPair } from '../request/query-string.ts'
import { keptPairs } from '../request/read-again.ts'
import { releaseBuffer, takeBuffer } from '../write/page-buffers.ts'
import { type ItemsDeps, type PageRequest, timeText } from './items-page.ts'

/** The memory of all kept pages, in bytes. */
const MAX_BYTES = 16 << 20
/** Larger pages take most of their time to be copied and sent, and few of them would fill the memory. */
const MAX_PAGE_BYTES = 1 << 14
/** What a page takes besides its bytes, about. */
const MORE_BYTES = 300

const NO_PIECES: readonly Buffer[] = []
const TIME_NAME = '"timeStamp":"'

/** A page that was made in memory. */
export interface MadePage {
  response: DataResponse
  /** The number of its features. */
  returned: number
  /** The number of all matches; null if it was not counted. */
  matched: number | null
}

/** What a page depends on besides its query, and its bytes. */
interface KeptPage {
  query: ItemsQuery
  dataset: PageRequest['dataset']
  snapshot: string
  base: string
  after: number
  limit: number
  bytes: Buffer
  /** Where the time stamp is in the bytes: the only part that is made for each request. */
  timeAt: number
  returned: number
  matched: number | null
}

/**
 * Small plain pages of queries that are requested again and again, as maps and lists do: to find a page, to copy its
 * features and to write its links takes a sixth of the time of a page of ten features. A snapshot never changes, so
 * only the time stamp differs.
 *
 * See docs/decisions/kept-pages.md.
 */
export class KeptPages {
  /** By the parameters of the query. */
  readonly #pages = new BoundedCache<readonly QueryPair[], KeptPage>(
    MAX_BYTES,
    ({ bytes }) => bytes.length + MORE_BYTES,
  )

  /** The page if it is kept and its snapshot is open. */
  find(
    { query, dataset, version, base, after }: PageRequest,
    limit: number,
    { snapshots, engine, clock }: Pick<ItemsDeps, 'snapshots' | 'engine' | 'clock'>,
  ): MadePage | null {
    const kept = this.#pages.get(query.pairs)
    if (kept === undefined || kept.query !== query || kept.dataset !== dataset || kept.base !== base)
      return null
    if (kept.snapshot !== version.snapshot || kept.after !== after || kept.limit !== limit) return null
    const snapshot = snapshots.peek(kept.snapshot)
    if (snapshot === null) return null
    const { bytes, timeAt, returned, matched } = kept
    // Another request may have counted the matches since.
    if (matched === null && query.count === 'auto' && engine.rememberedCount(snapshot, query) !== null)
      return null
    const { buffer, sizeClass } = takeBuffer(HEAD_ROOM + bytes.length)
    bytes.copy(buffer, HEAD_ROOM)
    buffer.write(timeText(clock()), HEAD_ROOM + timeAt, 'latin1')
    const release = () => releaseBuffer(sizeClass, buffer)
    const [start, end] = [HEAD_ROOM, HEAD_ROOM + bytes.length]
    const response = { status: 200, text: '', bytes: buffer, start, end, pieces: NO_PIECES, release }
    return { response, returned, matched }
  }

  /** Keeps the page if it is small and its query was requested before. */
  add({ query, dataset, version, base, after }: PageRequest, limit: number, made: MadePage): void {
    const { text, bytes, start, end, pieces } = made.response
    const length = text.length + end - start
    if (pieces.length > 0 || length > MAX_PAGE_BYTES || !keptPairs.has(query.pairs)) return
    const copy = Buffer.allocUnsafeSlow(length)
    copy.write(text, 'latin1')
    bytes.copy(copy, text.length, start, end)
    this.#pages.set(query.pairs, {
      ...{ query, dataset, snapshot: version.snapshot, base, after, limit, bytes: copy },
      // No text of a request or a dataset comes before it.
      timeAt: text.indexOf(TIME_NAME) + TIME_NAME.length,
      ...{ returned: made.returned, matched: made.matched },
    })
  }
}
