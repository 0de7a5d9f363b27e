import { BLOCK_ROWS, BLOCK_SHIFT } from '@wayleave/geodata/features'

/** What is known about all rows of a block. */
export const NO_ROWS = 0
export const SOME_ROWS = 1
export const ALL_ROWS = 2

/** A set of rows with one byte per row, so that it is combined with codes by loops without branches. */
export class RowMask {
  /** 1 for the rows of the set, 0 for all others. */
  readonly bytes: Uint8Array
  /** How many rows of each block are in the set. */
  readonly #blockCounts: Uint16Array
  #count = 0

  constructor(rows: number) {
    this.bytes = new Uint8Array(rows)
    this.#blockCounts = new Uint16Array(Math.ceil(rows / BLOCK_ROWS))
  }

  get count(): number {
    return this.#count
  }

  /** Adds the rows from `begin` to `end` (exclusive), none of which may be in the set yet. */
  addRun(begin: number, end: number): void {
    this.bytes.fill(1, begin, end)
    this.#count += end - begin
    for (let from = begin; from < end; ) {
      const block = from >>> BLOCK_SHIFT
      const to = Math.min(end, (block + 1) << BLOCK_SHIFT)
      this.#blockCounts[block]! += to - from
      from = to
    }
  }

  blockState(block: number): number {
    const count = this.#blockCounts[block]!
    if (count === 0) return NO_ROWS
    const rows = Math.min(BLOCK_ROWS, this.bytes.length - (block << BLOCK_SHIFT))
    return count === rows ? ALL_ROWS : SOME_ROWS
  }
}
