import { RequestThread } from '../threads/request-thread.ts'
import type { ColumnParts } from './compiled-column.ts'
import { type PackedColumn, unpackColumn } from './unpack-column.ts'

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
  readonly #thread: RequestThread<PackedColumn, ColumnParts>

  /** The thread ends when nothing was asked of it for `idleMs`. */
  constructor({ maxInlineRows = MAX_INLINE_ROWS, idleMs = IDLE_MS } = {}) {
    this.#maxInlineRows = maxInlineRows
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
  unpack(packed: PackedColumn): Promise<ColumnParts> {
    const { rows, stored, dictionary, codes } = packed
    if (rows <= this.#maxInlineRows && stored.dictionary.size <= MAX_INLINE_BYTES) return unpackColumn(packed)
    return this.#thread.perform(packed, [dictionary.buffer, codes.buffer])
  }
}
