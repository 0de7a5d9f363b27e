import { BLOCK_ROWS, type PositionBits } from '@wayleave/geodata/features'
import type { PositionTaker } from '../positions/position-taker.ts'
import type { FacetCounts } from './facet-counts.ts'
import type { MatchedExtent } from './matched-extent.ts'

/**
 * Counts the positions that match in each column, column by column, so that each loop reads one array, and extends
 * their bounding box. Single positions are collected first.
 */
export class MatchedPositions implements PositionTaker {
  readonly #counts: readonly FacetCounts[]
  /** If not null, the matching positions are put here too. */
  readonly #bits: PositionBits | null
  readonly #extent: MatchedExtent | null
  readonly #single = new Uint32Array(BLOCK_ROWS)
  #singles = 0
  #count = 0

  constructor(counts: readonly FacetCounts[], bits: PositionBits | null, extent: MatchedExtent | null) {
    this.#counts = counts
    this.#bits = bits
    this.#extent = extent
  }

  /** The number of positions. */
  get count(): number {
    return this.#count
  }

  take(position: number): boolean {
    this.#single[this.#singles++] = position
    if (this.#singles === BLOCK_ROWS) this.finish()
    return false
  }

  takeRun(begin: number, end: number): boolean {
    this.#count += end - begin
    for (const count of this.#counts) count.addRun(begin, end)
    this.#extent?.addRun(begin, end)
    this.#bits?.addRun(begin, end)
    return false
  }

  takeList(positions: Uint32Array, length: number): boolean {
    this.#count += length
    for (const count of this.#counts) count.addPositions(positions, length)
    this.#extent?.addPositions(positions, length)
    this.#bits?.addFirst(length, positions)
    return false
  }

  /** Counts the collected positions. Call it after the last position. */
  finish(): void {
    this.takeList(this.#single, this.#singles)
    this.#singles = 0
  }
}
