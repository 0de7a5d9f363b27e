import type { CompiledColumn } from '@wayleave/geodata/features'
import { BLOCKED } from '../features/sliced-work.ts'
import { OrderReader } from './order-reader.ts'

/**
 * The positions in the order of a column: ascending or descending, nulls last, positions of equal values in snapshot
 * order. It begins after a position, or at the first one. The order of a large column is read by parts.
 */
export class OrderWalk {
  readonly #column: CompiledColumn
  readonly #isDescending: boolean
  readonly #reader: OrderReader
  readonly #after: number
  #code: number
  #index: number
  #end: number
  /** While the place after `#after` is searched, it is not beyond this index. */
  #high: number

  /** The order of the column has to be loaded. `after` is -1 to begin at the first position. */
  constructor(column: CompiledColumn, isDescending: boolean, after: number) {
    this.#column = column
    this.#isDescending = isDescending
    this.#reader = new OrderReader(column.sorted!)
    this.#after = after
    const { starts, codeCount } = column
    this.#code = after >= 0 ? column.codes[after]! : codeCount === 1 ? 0 : isDescending ? codeCount - 1 : 1
    this.#index = starts[this.#code]!
    this.#end = starts[this.#code + 1]!
    this.#high = after >= 0 ? this.#end : this.#index
  }

  /** The next position, -1 at the end, or BLOCKED if `loadMissing` has to be called. */
  next(): number {
    while (this.#index < this.#high) {
      const middle = (this.#index + this.#high) >>> 1
      const position = this.#reader.at(middle)
      if (position === BLOCKED) return BLOCKED
      if (position <= this.#after) this.#index = middle + 1
      else this.#high = middle
    }
    while (this.#index === this.#end) if (!this.#nextCode()) return -1
    const position = this.#reader.at(this.#index)
    if (position !== BLOCKED) this.#index++
    return position
  }

  /** Reads the part that `next` was blocked by; null if it was not. */
  loadMissing(): Promise<unknown> | null {
    return this.#reader.loadMissing()
  }

  #nextCode(): boolean {
    if (this.#code === 0) return false
    const { starts, codeCount } = this.#column
    // Nulls, which have code 0, come after the last value in both directions.
    const next = this.#code + (this.#isDescending ? -1 : 1)
    this.#code = next === codeCount ? 0 : next
    this.#index = starts[this.#code]!
    this.#high = this.#index
    this.#end = starts[this.#code + 1]!
    return true
  }
}

/** Sorts positions as `OrderWalk` would return them, and leaves out those up to `after`. */
export function sortedPositionsAfter(
  positions: readonly number[],
  { codes, codeCount }: CompiledColumn,
  isDescending: boolean,
  after: number,
): number[] {
  // One number for rank and position: at most 2³¹ positions and 4 million codes, or 20 million of each, so it is exact.
  const count = codes.length
  const keyOf = (position: number) => {
    const code = codes[position]!
    return (code === 0 ? codeCount : isDescending ? codeCount - code : code) * count + position
  }
  const last = after < 0 ? -1 : keyOf(after)
  const keys = Float64Array.from(positions, keyOf).sort()
  return Array.from(
    keys.filter((key) => key > last),
    (key) => key % count,
  )
}
