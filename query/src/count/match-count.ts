import type { Geometry } from '@wayleave/geodata/geometry'
import type { PreparedRequest } from '../by-codes/compiled-selection.ts'
import { PositionScan } from '../by-codes/position-scan.ts'
import type { SlicedWork } from '../features/sliced-work.ts'
import type { PositionTaker } from '../positions/position-taker.ts'

/** Counting tests at most this many positions: about a tenth of a second. */
const MAX_TESTED = 30_000_000

/** Counts all matches of a request. */
export class MatchCount implements SlicedWork, PositionTaker {
  readonly #scan: SlicedWork
  #count = 0

  constructor(request: PreparedRequest) {
    this.#scan = new PositionScan(request, 0, Infinity, this)
  }

  take(): boolean {
    this.#count++
    return false
  }

  takeRun(begin: number, end: number): boolean {
    this.#count += end - begin
    return false
  }

  takeList(_rows: Uint32Array, count: number): boolean {
    this.#count += count
    return false
  }

  advance(until: number, geometry?: Geometry | null): number {
    return this.#scan.advance(until, geometry)
  }

  get count(): number {
    return this.#count
  }
}

/** The count if it follows from the posting lists, otherwise null. */
export function countOfLists({ filter, box }: PreparedRequest): number | null {
  return filter && box === null ? filter.exactCount : null
}

/** Whether counting stays inside the budget. */
export function isCountable({ filter, snapshot }: PreparedRequest): boolean {
  return Math.min(filter?.candidateCount ?? Infinity, snapshot.manifest.rows) <= MAX_TESTED
}
