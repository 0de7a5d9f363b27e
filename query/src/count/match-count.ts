import type { Geometry } from '@wayleave/geodata/geometry'
import type { PreparedRequest } from '../by-codes/compiled-selection.ts'
import { PositionScan, scanCost } from '../by-codes/position-scan.ts'
import type { SlicedWork } from '../features/sliced-work.ts'
import type { PositionTaker } from '../positions/position-taker.ts'
import { BitCount, bitCountCost } from './bit-count.ts'
import { ListCount, listCountCost } from './list-count.ts'

/** Counts all matches of a request; `count` is their number after the work has ended. */
export interface MatchCount extends SlicedWork {
  readonly count: number
}

/** The fastest way to count, and what it costs by the work alone. */
export interface CountPlan {
  /** About nanoseconds of the machine that was measured; the same for the same request on every machine. */
  cost: number
  /** Whether the cost is only an estimate: the number of positions in a box is. */
  isEstimate: boolean
  begin(): MatchCount
}

/** The count if it follows from the posting lists, otherwise null. */
export function countOfLists({ filter, box }: PreparedRequest): number | null {
  return filter && box === null ? filter.exactCount : null
}

export function planCount(request: PreparedRequest): CountPlan {
  const { filter, box, snapshot } = request
  const scan = scanCost(request, 0, Infinity)
  if (filter && box === null) {
    const { rows } = snapshot.manifest
    const [bits, list] = [bitCountCost(filter.expression, rows), listCountCost(filter)]
    const cost = Math.min(bits, list)
    const begin = () => (list < bits ? new ListCount(filter) : new BitCount(filter.expression, rows))
    if (cost < scan) return { cost, isEstimate: false, begin }
  }
  return { cost: scan, isEstimate: box !== null, begin: () => new ScanCount(request) }
}

/** Counts the positions that a scan finds. */
class ScanCount implements MatchCount, PositionTaker {
  readonly #scan: PositionScan
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

  takeList(_positions: Uint32Array, count: number): boolean {
    this.#count += count
    return false
  }

  takeCount(count: number): void {
    this.#count += count
  }

  advance(until: number, geometry?: Geometry | null): number {
    return this.#scan.advance(until, geometry)
  }

  loadMissing(): Promise<unknown> | null {
    return this.#scan.loadMissing()
  }

  get count(): number {
    return this.#count
  }
}
