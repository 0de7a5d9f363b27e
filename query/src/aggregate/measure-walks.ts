import { BLOCK_ROWS, type CompiledColumn } from '@wayleave/geodata/features'
import type { TimedWork } from '../work/timed-work.ts'
import { gather } from './block.ts'
import type { GroupOfPosition, GroupWalk } from './group-measure.ts'

/** Positions between two looks at the clock. */
const STEP = BLOCK_ROWS
/** The groups of some positions plus 1. Used by one walk at a time: it does not pause while it reads them. */
const stepGroups = new Uint32Array(STEP)

/**
 * Visits the positions that have a value in ascending order of their values, in steps. The number of different values
 * of a group, and its k-th value, are then known without sorting or collecting its values.
 */
async function walk(
  { order, starts, codes }: CompiledColumn,
  groupOf: GroupOfPosition,
  work: TimedWork,
  visit: (starts: Uint32Array, from: number, to: number, code: number) => number,
): Promise<void> {
  const begin = starts[1]!
  const all = codes.length
  let code = 1
  await work.each(Math.ceil((all - begin) / STEP), (i) => {
    const from = begin + i * STEP
    const to = Math.min(all, from + STEP)
    gather(groupOf, order.subarray(from, to), to - from, stepGroups)
    code = visit(starts, from, to, code)
  })
  work.check()
}

/** The number of different values of each group. */
export class DistinctCounts {
  readonly counts: Uint32Array
  readonly #column: CompiledColumn

  constructor(column: CompiledColumn, capacity: number) {
    this.#column = column
    this.counts = new Uint32Array(capacity)
  }

  readonly walk: GroupWalk = async (groupOf, work) => {
    const { counts } = this
    const last = new Uint32Array(counts.length)
    await walk(this.#column, groupOf, work, (starts, from, to, code) =>
      countDistinct(starts, from, to, code, last, counts),
    )
  }
}

/** Returns the code of the last position. */
function countDistinct(
  starts: Uint32Array,
  from: number,
  to: number,
  first: number,
  last: Uint32Array,
  counts: Uint32Array,
): number {
  let code = first
  for (let i = from; i < to; i++) {
    while (i >= starts[code + 1]!) code++
    const group = stepGroups[i - from]! - 1
    if (group < 0 || last[group] === code) continue
    last[group] = code
    counts[group]!++
  }
  return code
}

/** The codes of the values between which a percentile of each group lies. */
export class PercentileCodes {
  readonly lower: Uint32Array
  readonly upper: Uint32Array
  readonly #column: CompiledColumn
  readonly #counts: Uint32Array
  readonly #share: number

  constructor(column: CompiledColumn, percent: number, counts: Uint32Array) {
    this.#column = column
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

  readonly walk: GroupWalk = async (groupOf, work) => {
    const { lower, upper } = this
    const seen = new Uint32Array(lower.length)
    // The number, from 1 on, of the value below the percentile.
    const wanted = Uint32Array.from(lower, (_, group) => Math.max(0, Math.floor(this.#rank(group))) + 1)
    await walk(this.#column, groupOf, work, (starts, from, to, code) =>
      takeRanks(starts, from, to, code, seen, wanted, lower, upper),
    )
  }
}

/** Returns the code of the last position. */
function takeRanks(
  starts: Uint32Array,
  from: number,
  to: number,
  first: number,
  seen: Uint32Array,
  wanted: Uint32Array,
  lower: Uint32Array,
  upper: Uint32Array,
): number {
  let code = first
  for (let i = from; i < to; i++) {
    while (i >= starts[code + 1]!) code++
    const group = stepGroups[i - from]! - 1
    if (group < 0) continue
    const rank = ++seen[group]!
    if (rank === wanted[group]) lower[group] = code
    else if (rank === wanted[group]! + 1) upper[group] = code
  }
  return code
}
