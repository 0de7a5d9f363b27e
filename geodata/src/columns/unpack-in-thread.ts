import { availableParallelism } from 'node:os'
import { RequestThread } from '../threads/request-thread.ts'
import { type Codes, type ColumnParts, MAX_LISTED_ROWS } from './compiled-column.ts'
import {
  orderOf,
  type PackedColumn,
  type PackedLists,
  type PackedSegment,
  unpackColumn,
  unpackLists,
  unpackSegment,
} from './unpack-column.ts'
import type { UnpackRequest, UnpackValue } from './unpack-thread.ts'

/** Smaller columns are unpacked at once, which takes 1 to 2 ms; asking the thread would take longer. */
const MAX_INLINE_ROWS = 1 << 15
const MAX_INLINE_BYTES = 1 << 19
const IDLE_MS = 10 * 60_000
/** One thread reads the segments of a large column for all of these: more would wait for it. */
const MAX_THREADS = 4
/** Threads beside the first, which only large columns need, end sooner: one that rests takes ten megabytes or more. */
const OTHER_IDLE_MS = 60_000

/**
 * Unpacks columns in threads: for a million rows it takes longer than other requests should wait, and makes garbage
 * whose collection would stop them too. The threads share the memory of a column. One is enough, unless it is busy.
 */
export class UnpackInThread {
  readonly #maxInlineRows: number
  readonly #maxListed: number
  readonly #threads: readonly RequestThread<UnpackRequest, UnpackValue>[]

  /** The first thread ends when nothing was asked of it for `idleMs`. Columns of more than `maxListed` rows get no lists. */
  constructor({
    maxInlineRows = MAX_INLINE_ROWS,
    idleMs = IDLE_MS,
    maxListed = MAX_LISTED_ROWS,
  }: { maxInlineRows?: number; idleMs?: number | undefined; maxListed?: number | undefined } = {}) {
    this.#maxInlineRows = maxInlineRows
    this.#maxListed = maxListed
    const entry = new URL('./unpack-thread.ts', import.meta.url)
    const count = Math.min(MAX_THREADS, availableParallelism())
    this.#threads = Array.from(
      { length: count },
      (_, i) => new RequestThread(entry, i === 0 ? idleMs : Math.min(idleMs, OTHER_IDLE_MS)),
    )
  }

  get isRunning(): boolean {
    return this.#threads.some(({ isRunning }) => isRunning)
  }

  /** How many segments should be unpacked at once: one for each thread, and one that is read meanwhile. */
  get segmentsAtOnce(): number {
    return this.#threads.length + 1
  }

  /** Starts the thread if a column of so many rows will need it. */
  expect(rows: number): void {
    if (rows > this.#maxInlineRows) this.#threads[0]!.expect()
  }

  /** The sections of the column are moved to the thread. Throws a DamagedSnapshotError. */
  async unpack(packed: PackedColumn): Promise<ColumnParts> {
    const { rows, stored, dictionary, codes } = packed
    if (rows <= this.#maxInlineRows && stored.dictionary.size <= MAX_INLINE_BYTES)
      return unpackColumn(packed, this.#maxListed)
    const moved = [dictionary.buffer, ...codes.map(({ buffer }) => buffer)]
    const value = await this.#perform({ packed, maxListed: this.#maxListed }, moved)
    return value as ColumnParts
  }

  /** Unpacks one segment of a large column, whose section is moved to the thread. Throws a DamagedSnapshotError. */
  async unpackSegment(segment: PackedSegment): Promise<void> {
    const { section, form } = segment
    if (section.size / form.width <= this.#maxInlineRows) return unpackSegment(segment)
    await this.#perform({ segment }, [segment.bytes.buffer])
  }

  /** The same without the codes. */
  async unpackLists(lists: PackedLists): Promise<ColumnParts> {
    const { dictionary, counts, stored } = lists
    if (stored.dictionary.size <= MAX_INLINE_BYTES) return unpackLists(lists)
    const value = await this.#perform({ lists }, [dictionary.buffer, counts.buffer])
    return value as ColumnParts
  }

  /** The rows by their codes, which are in shared memory. */
  async order(codes: Codes, starts: Uint32Array): Promise<Uint32Array> {
    if (codes.length <= this.#maxInlineRows) return orderOf(codes, starts)
    const value = await this.#perform({ codes, starts }, [])
    return (value as { order: Uint32Array }).order
  }

  /** By the first thread that has nothing to do, otherwise by the one that has the least. */
  #perform(request: UnpackRequest, moved: ArrayBuffer[]): Promise<UnpackValue> {
    const thread = this.#threads.reduce((least, other) => (other.pending < least.pending ? other : least))
    return thread.perform(request, moved)
  }
}
