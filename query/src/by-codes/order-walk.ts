import type { CompiledColumn } from '@wayleave/geodata/features'

/**
 * The positions in the order of a column: ascending or descending, nulls last, positions of equal values in snapshot
 * order. It begins after a position, or at the first one.
 */
export class OrderWalk {
  readonly #column: CompiledColumn
  readonly #isDescending: boolean
  readonly #order: Uint32Array
  #code: number
  #index: number
  #end: number

  /** The order of the column has to be loaded. `after` is -1 to begin at the first position. */
  constructor(column: CompiledColumn, isDescending: boolean, after: number) {
    this.#column = column
    this.#isDescending = isDescending
    const { codes, starts, codeCount } = column
    const order = column.order!
    this.#order = order
    if (after >= 0) {
      this.#code = codes[after]!
      this.#index = starts[this.#code]!
      this.#end = starts[this.#code + 1]!
      for (let high = this.#end; this.#index < high; ) {
        const middle = (this.#index + high) >>> 1
        if (order[middle]! <= after) this.#index = middle + 1
        else high = middle
      }
      return
    }
    this.#code = codeCount === 1 ? 0 : isDescending ? codeCount - 1 : 1
    this.#index = starts[this.#code]!
    this.#end = starts[this.#code + 1]!
  }

  /** The next position, or -1 at the end. */
  next(): number {
    while (this.#index === this.#end) if (!this.#nextCode()) return -1
    return this.#order[this.#index++]!
  }

  #nextCode(): boolean {
    if (this.#code === 0) return false
    const { starts, codeCount } = this.#column
    // Nulls, which have code 0, come after the last value in both directions.
    const next = this.#code + (this.#isDescending ? -1 : 1)
    this.#code = next === codeCount ? 0 : next
    this.#index = starts[this.#code]!
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
