import type { CompiledColumn } from '@wayleave/geodata/features'
import type { PositionFilter } from '../by-codes/position-filter.ts'
import { BLOCKED, ENDED, PAUSED, type SlicedWork } from '../features/sliced-work.ts'

/** The measured time of a position of the list, in ns: it is copied, and its codes in other columns are far apart. */
const COST = 8
/** Positions that are tested at once. */
const STEP = 4096
/** Used by one count at a time: it does not pause while it reads them. */
const positions = new Uint32Array(STEP)

type Order = NonNullable<CompiledColumn['sorted']>

/**
 * Counts the matches of conditions with AND by the posting list of the rarest, each of whose positions is tested against
 * the other conditions. The list of a large column is read by parts.
 */
export class ListCount implements SlicedWork {
  readonly #filter: PositionFilter
  readonly #order: Order
  /** The parts of the order that are counted: pairs of begin and end. */
  readonly #ranges: number[]
  #range = 0
  #next = 0
  #missing = -1
  #count = 0

  /** The filter has a `candidateList`. */
  constructor(filter: PositionFilter) {
    const { column, set } = filter.candidateList!
    this.#filter = filter
    this.#order = column.sorted!
    this.#ranges = set.map((code) => column.starts[code]!)
    this.#next = this.#ranges[0]!
  }

  /** The result, after `advance` has returned ENDED. */
  get count(): number {
    return this.#count
  }

  advance(until: number): number {
    const order = this.#order
    for (;;) {
      const end = this.#ranges[this.#range + 1]!
      if (this.#next === end) {
        this.#range += 2
        if (this.#range === this.#ranges.length) return ENDED
        this.#next = this.#ranges[this.#range]!
        continue
      }
      const block = order.peek(this.#next >>> order.shift)
      if (block === undefined) {
        this.#missing = this.#next >>> order.shift
        return BLOCKED
      }
      const at = this.#next & order.mask
      const part = block.subarray(at, Math.min(block.length, at + STEP, at + end - this.#next))
      positions.set(part)
      this.#count += this.#filter.countListed(positions, part.length)
      this.#next += part.length
      if (performance.now() > until) return PAUSED
    }
  }

  loadMissing(): Promise<unknown> | null {
    const missing = this.#missing
    this.#missing = -1
    return missing === -1 ? null : this.#order.load(missing)
  }
}

/** How long it takes, in ns, by the number of positions in the list; infinitely long if there is no list. */
export function listCountCost(filter: PositionFilter): number {
  return filter.expression.kind === 'and' && filter.candidateList ? filter.candidateCount * COST : Infinity
}
