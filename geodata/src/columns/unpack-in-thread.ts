import { RequestThread } from '../threads/request-thread.ts'
import { type Codes, type ColumnParts, MAX_LISTED_ROWS } from './compiled-column.ts'
import { orderOf, type PackedColumn, type PackedLists, unpackColumn, unpackLists } from './unpack-column.ts'
import type { UnpackRequest, UnpackValue } from './unpack-thread.ts'

/** Smaller columns are unpacked at once, which takes 1 to 2 ms; asking the thread would take longer. */
const MAX_INLINE_ROWS = 1 << 15
const MAX_INLINE_BYTES = 1 << 19
const IDLE_MS = 10 * 60_000

/**
 * Unpacks columns in a thread: for a million rows it takes longer than other requests should wait, and makes garbage
 * whose collection would stop them too. The threads share the memory of a column.
 */
export class UnpackInThread {
  readonly #maxInlineRows: number
  readonly #maxListed: number
  readonly #thread: RequestThread<UnpackRequest, UnpackValue>

  /** The thread ends when nothing was asked of it for `idleMs`. Columns of more than `maxListed` rows get no lists. */
  constructor({
    maxInlineRows = MAX_INLINE_ROWS,
    idleMs = IDLE_MS,
    maxListed = MAX_LISTED_ROWS,
  }: { maxInlineRows?: number; idleMs?: number | undefined; maxListed?: number | undefined } = {}) {
    this.#maxInlineRows = maxInlineRows
    this.#maxListed = maxListed
    this.#thread = new RequestThread(new URL('./unpack-thread.ts', import.meta.url), idleMs)
  }

  get isRunning(): boolean {
    return this.#thread.isRunning
  }

  /** Starts the thread if a column of so many rows will need it. */
  expect(rows: number): void {
    if (rows > this.#maxInlineRows) this.#thread.expect()
  }

  /** The sections of the column are moved to the thread. Throws a DamagedSnapshotError. */
  async unpack(packed: PackedColumn): Promise<ColumnParts> {
    const { rows, stored, dictionary, codes } = packed
    if (rows <= this.#maxInlineRows && stored.dictionary.size <= MAX_INLINE_BYTES)
      return unpackColumn(packed, this.#maxListed)
    const moved = [dictionary.buffer, ...codes.map(({ buffer }) => buffer)]
    const value = await this.#thread.perform({ packed, maxListed: this.#maxListed }, moved)
    return value as ColumnParts
  }

  /** The same without the codes. */
  async unpackLists(lists: PackedLists): Promise<ColumnParts> {
    const { dictionary, counts, stored } = lists
    if (stored.dictionary.size <= MAX_INLINE_BYTES) return unpackLists(lists)
    const value = await this.#thread.perform({ lists }, [dictionary.buffer, counts.buffer])
    return value as ColumnParts
  }

  /** The rows by their codes, which are in shared memory. */
  async order(codes: Codes, starts: Uint32Array): Promise<Uint32Array> {
    if (codes.length <= this.#maxInlineRows) return orderOf(codes, starts)
    const value = await this.#thread.perform({ codes, starts }, [])
    return (value as { order: Uint32Array }).order
  }
}
