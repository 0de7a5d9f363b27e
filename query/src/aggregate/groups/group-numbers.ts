import { BLOCK_ROWS } from '@wayleave/geodata/features'
import { QueryError } from '../../query-error.ts'
import { MAX_GROUPS, MAX_VALUES } from '../aggregate-query.ts'
import type { Block } from '../columns/block.ts'
import type { GroupDimension } from './group-dimension.ts'

/** Combines the groups of all dimensions to one number for each position. */
export class GroupNumbers {
  /** The max number of groups. */
  readonly capacity: number
  readonly #dimensions: readonly GroupDimension[]
  /** Null if all combinations are numbered, also those that do not occur. */
  readonly #pairs: NumberedPairs[] | null
  readonly #own = new Uint32Array(BLOCK_ROWS)
  readonly #next = new Uint32Array(BLOCK_ROWS)

  /** `measures` is how many values a group has. */
  constructor(dimensions: readonly GroupDimension[], measures: number, rows: number) {
    this.#dimensions = dimensions
    const product = dimensions.reduce((all, { size }) => all * size, 1)
    const max = Math.min(MAX_GROUPS, Math.floor(MAX_VALUES / Math.max(1, measures)))
    this.capacity = Math.min(max, product, Math.max(1, rows))
    this.#pairs = null
    if (product <= max) this.capacity = product
    else this.#pairs = dimensions.map(() => new NumberedPairs(this.capacity, max))
  }

  /** How many positions are numbered in about a millisecond, or a block. */
  get step(): number {
    return this.#dimensions.reduce((min, { step = BLOCK_ROWS }) => Math.min(min, step), BLOCK_ROWS)
  }

  /** Sets `block.groups`. */
  number(block: Block): void {
    const { length } = block
    const own = this.#own
    const [first, ...others] = this.#dimensions
    const pairs = this.#pairs
    if (first === undefined) {
      block.groups = own
      return
    }
    const numbers = first.number(block, own)
    // A single dimension may have many more groups than occur.
    if (pairs) pairs[0]!.number(numbers, null, first.size, length, own)
    let combined = pairs ? own : numbers
    others.forEach((dimension, i) => {
      const next = dimension.number(block, this.#next)
      if (pairs) pairs[i + 1]!.number(combined, next, dimension.size, length, own)
      else combine(combined, next, dimension.size, length, own)
      combined = own
    })
    block.groups = combined
  }

  /** The group of each dimension. */
  parts(group: number): number[] {
    if (this.#dimensions.length === 1 && this.#pairs === null) return [group]
    const parts: number[] = []
    let rest = group
    for (let i = this.#dimensions.length - 1; i >= 0; i--) {
      const { size } = this.#dimensions[i]!
      const combined = this.#pairs ? this.#pairs[i]!.pair(rest) : rest
      parts.unshift(combined % size)
      rest = Math.floor(combined / size)
    }
    return parts
  }
}

function combine(
  groups: Uint32Array,
  next: Uint32Array,
  size: number,
  length: number,
  combined: Uint32Array,
): void {
  // The product is at most the max number of groups, so an integer multiplication is exact.
  for (let i = 0; i < length; i++) combined[i] = Math.imul(groups[i]!, size) + next[i]!
}

/**
 * Numbers the pairs that occur, by a hash table with open addressing. Keys are below 2^53: there are at most MAX_GROUPS
 * numbers, and a dimension has at most one group for each of 2^32 features.
 */
class NumberedPairs {
  readonly #max: number
  /** By number. */
  readonly #pairs: Float64Array
  /** The number of a pair plus 1, by its hash; 0 is free. */
  #slots: Uint32Array
  #count = 0

  constructor(capacity: number, max: number) {
    this.#max = max
    this.#pairs = new Float64Array(capacity)
    this.#slots = new Uint32Array(1024)
  }

  pair(number: number): number {
    return this.#pairs[number]!
  }

  /** Writes the number of each pair of a group and `next`. */
  number(
    groups: Uint32Array,
    next: Uint32Array | null,
    size: number,
    length: number,
    numbers: Uint32Array,
  ): void {
    for (let i = 0; i < length; i++) {
      const pair = next === null ? groups[i]! : groups[i]! * size + next[i]!
      numbers[i] = this.#numberOf(pair)
    }
  }

  #numberOf(pair: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    let at = hash(pair) & mask
    for (;;) {
      const number = slots[at]!
      if (number === 0) break
      if (this.#pairs[number - 1] === pair) return number - 1
      at = (at + 1) & mask
    }
    if (this.#count === this.#pairs.length) throw tooManyGroups(this.#max)
    this.#pairs[this.#count++] = pair
    slots[at] = this.#count
    if (this.#count * 2 > slots.length) this.#grow()
    return this.#count - 1
  }

  #grow(): void {
    const slots = new Uint32Array(this.#slots.length * 4)
    const mask = slots.length - 1
    for (let number = 0; number < this.#count; number++) {
      let at = hash(this.#pairs[number]!) & mask
      while (slots[at] !== 0) at = (at + 1) & mask
      slots[at] = number + 1
    }
    this.#slots = slots
  }
}

function hash(pair: number): number {
  const low = pair >>> 0
  const high = (pair - low) / 2 ** 32
  const mixed = Math.imul(low ^ Math.imul(high, 0x85eb_ca6b), 0x9e37_79b1)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

export function tooManyGroups(max: number): QueryError {
  return new QueryError(
    'too-many-groups',
    `There are more than ${max} groups, which is the limit for this number of measures. Group by fewer or coarser values, ask for fewer measures, or narrow the filter.`,
  )
}
