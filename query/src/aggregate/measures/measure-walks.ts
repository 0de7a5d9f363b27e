import { BLOCK_ROWS, type CompiledColumn } from '@wayleave/geodata/features'
import type { TimedWork } from '../../work/timed-work.ts'
import { gather } from '../columns/block.ts'
import type { GroupOfPosition } from './group-measure.ts'

/** Positions between two looks at the clock. */
const STEP = BLOCK_ROWS
/** The groups of some positions plus 1, and their codes. Used by one walk at a time: it does not pause in a step. */
const stepGroups = new Uint32Array(STEP)
const stepCodes = new Uint32Array(STEP)

/** Takes positions in ascending order of their values: the first `length` of `stepGroups` and `stepCodes`. */
interface Visitor {
  begin(work: TimedWork): Promise<void>
  visit(length: number): void
}

/**
 * Visits the positions that have a value in ascending order of their values, in steps. The number of different values
 * of a group, and its k-th value, are then known without sorting or collecting its values. All measures of a column
 * share one walk.
 */
export class ColumnWalk {
  readonly #column: CompiledColumn
  readonly #visitors: Visitor[] = []

  constructor(column: CompiledColumn) {
    this.#column = column
  }

  add<T extends Visitor>(visitor: T): T {
    this.#visitors.push(visitor)
    return visitor
  }

  async run(groupOf: GroupOfPosition, work: TimedWork): Promise<void> {
    const { starts, codes } = this.#column
    const order = this.#column.order!
    const begin = starts[1]!
    const all = codes.length
    let code = 1
    for (const visitor of this.#visitors) await visitor.begin(work)
    await work.inSteps(all - begin, STEP, (first, end) => {
      const [from, to] = [begin + first, begin + end]
      gather(groupOf, order.subarray(from, to), to - from, stepGroups)
      code = fillCodes(starts, from, to, code)
      for (const visitor of this.#visitors) visitor.visit(to - from)
    })
  }
}

/** Returns the code of the last position. */
function fillCodes(starts: Uint32Array, from: number, to: number, first: number): number {
  let code = first
  for (let i = from; i < to; i++) {
    while (i >= starts[code + 1]!) code++
    stepCodes[i - from] = code
  }
  return code
}

/** The number of different values of each group. */
export class DistinctCounts implements Visitor {
  readonly counts: Uint32Array
  /** The last code of each group. */
  #last = new Uint32Array(0)

  constructor(capacity: number) {
    this.counts = new Uint32Array(capacity)
  }

  async begin(): Promise<void> {
    this.#last = new Uint32Array(this.counts.length)
  }

  visit(length: number): void {
    const last = this.#last
    const { counts } = this
    for (let i = 0; i < length; i++) {
      const group = stepGroups[i]! - 1
      if (group < 0 || last[group] === stepCodes[i]) continue
      last[group] = stepCodes[i]!
      counts[group]!++
    }
  }
}

/** The codes of the values between which a percentile of each group lies. */
export class PercentileCodes implements Visitor {
  readonly lower: Uint32Array
  readonly upper: Uint32Array
  readonly #counts: Uint32Array
  readonly #share: number
  /** How many values of each group are left up to the lower one. After the upper one it wraps to 2^32 - 1. */
  #left = new Uint32Array(0)

  /** `counts` has the number of values of each group. */
  constructor(percent: number, counts: Uint32Array) {
    this.#counts = counts
    this.#share = percent / 100
    this.lower = new Uint32Array(counts.length)
    this.upper = new Uint32Array(counts.length)
  }

  /** How far between the two values the percentile is, from 0 to 1. */
  fraction(group: number): number {
    const rank = this.#rank(group)
    return rank - Math.floor(rank)
  }

  #rank(group: number): number {
    return (this.#counts[group]! - 1) * this.#share
  }

  async begin(work: TimedWork): Promise<void> {
    const left = new Uint32Array(this.lower.length)
    await work.inSteps(left.length, STEP, (from, to) => {
      for (let group = from; group < to; group++) left[group] = Math.max(0, Math.floor(this.#rank(group))) + 1
    })
    this.#left = left
  }

  visit(length: number): void {
    const left = this.#left
    const { lower, upper } = this
    for (let i = 0; i < length; i++) {
      const group = stepGroups[i]! - 1
      if (group < 0) continue
      const rest = left[group]!
      left[group] = rest - 1
      if (rest > 1) continue
      if (rest === 1) lower[group] = stepCodes[i]!
      else upper[group] = stepCodes[i]!
    }
  }
}
