import { BLOCK_ROWS } from '@wayleave/geodata/features'
import type { RowTaker } from '../positions/row-taker.ts'
import type { FacetCounts } from './facet-counts.ts'
import type { MatchedExtent } from './matched-extent.ts'

/**
 * Counts the rows that match in each column, column by column, so that each loop reads one array, and extends their
 * bounding box. Single rows are collected first.
 */
export class MatchedRows implements RowTaker {
  readonly #counts: readonly FacetCounts[]
  /** If not null, the matching rows are put here too; the first row of a byte is its highest bit. */
  readonly #bits: Uint8Array | null
  readonly #extent: MatchedExtent | null
  readonly #single = new Uint32Array(BLOCK_ROWS)
  #singles = 0
  #count = 0

  constructor(counts: readonly FacetCounts[], bits: Uint8Array | null, extent: MatchedExtent | null) {
    this.#counts = counts
    this.#bits = bits
    this.#extent = extent
  }

  /** The number of rows. */
  get count(): number {
    return this.#count
  }

  takeRow(row: number): boolean {
    this.#single[this.#singles++] = row
    if (this.#singles === BLOCK_ROWS) this.finish()
    return false
  }

  takeRun(begin: number, end: number): boolean {
    this.#count += end - begin
    for (const count of this.#counts) count.addRun(begin, end)
    this.#extent?.addRun(begin, end)
    if (this.#bits) for (let row = begin; row < end; row++) this.#bits[row >>> 3]! |= 0x80 >>> (row & 7)
    return false
  }

  takeRows(rows: Uint32Array, length: number): boolean {
    this.#count += length
    for (const count of this.#counts) count.addRows(rows, length)
    this.#extent?.addRows(rows, length)
    const bits = this.#bits
    if (bits) for (let i = 0; i < length; i++) bits[rows[i]! >>> 3]! |= 0x80 >>> (rows[i]! & 7)
    return false
  }

  /** Counts the collected rows. Call it after the last row. */
  finish(): void {
    this.takeRows(this.#single, this.#singles)
    this.#singles = 0
  }
}
