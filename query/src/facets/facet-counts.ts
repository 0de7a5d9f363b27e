import {
  BLOCK_ROWS,
  BLOCK_SHIFT,
  type Codes,
  type CompiledColumn,
  MAX_COUNTED_CODES,
  mostFrequent,
} from '@wayleave/geodata/features'
import type { TimedWork } from '../work/timed-work.ts'
import { histogramBins, loadPositionBins } from './histogram-bins.ts'

type FacetValue = string | number | bigint | boolean

/** The values of a column among the features that match, as it is in the response. */
export interface Facet {
  type: string
  /** How many of the matching features have no value. */
  nulls: number
  /** The most frequent values, most frequent first; equally frequent ones in the order of the values. */
  values?: { value: FacetValue; count: number }[]
  /** How many matching features have a value that is not in `values`. */
  others?: number
  /** Intervals: `from` is part of an interval, and `to` is only part of the last one. */
  histogram?: { from: FacetValue; to: FacetValue; count: number }[]
}

const SEVERAL = -1

/** Counts the values of one compiled column. */
export class FacetCounts {
  readonly #column: CompiledColumn
  readonly #limit: number
  readonly #bins: ReturnType<typeof histogramBins>
  /** Whether intervals are counted instead of codes. The codes of few values are counted, and added in the end. */
  readonly isByBin: boolean
  readonly #counts: Uint32Array

  /** A column with more than `limit` distinct values that have a distance gets a histogram. */
  constructor(column: CompiledColumn, limit: number, bins: number) {
    this.#column = column
    this.#limit = limit
    this.#bins = column.values.length > limit ? histogramBins(column, bins) : null
    this.isByBin = this.#bins !== null && column.codeCount > MAX_COUNTED_CODES
    this.#counts = new Uint32Array(this.isByBin ? this.#bins!.edges.length : column.codeCount)
  }

  /** Has to end before the first call of `addPositions`. */
  async prepare(work: TimedWork): Promise<void> {
    if (this.isByBin) await loadPositionBins(this.#column, this.#bins!, work)
  }

  /** Counts the first `length` of these positions, which ascend. */
  addPositions(positions: Uint32Array, length: number): void {
    if (length === 0) return
    const counts = this.#counts
    const group = this.#groupOf(positions[0]!, positions[length - 1]!)
    if (group !== SEVERAL) {
      counts[group]! += length
      return
    }
    const groups = this.#groups
    if (groups instanceof Uint8Array) countPositions8(groups, positions, length, counts)
    else if (groups instanceof Uint16Array) countPositions16(groups, positions, length, counts)
    else countPositions32(groups, positions, length, counts)
  }

  /** Counts the positions from `begin` to `end` (exclusive), which are in one block. */
  addRun(begin: number, end: number): void {
    const counts = this.#counts
    if (end - begin === BLOCK_ROWS && this.#addBlock(begin >>> BLOCK_SHIFT)) return
    const group = this.#groupOf(begin, end - 1)
    if (group !== SEVERAL) {
      counts[group]! += end - begin
      return
    }
    const groups = this.#groups
    if (groups instanceof Uint8Array) countRun8(groups, begin, end, counts)
    else if (groups instanceof Uint16Array) countRun16(groups, begin, end, counts)
    else countRun32(groups, begin, end, counts)
  }

  /** Counts all positions of a block; false if it has no counts. */
  #addBlock(block: number): boolean {
    const blockCounts = this.#blockCounts
    if (blockCounts === null) return false
    const counts = this.#counts
    const at = block * counts.length
    for (let group = 0; group < counts.length; group++) counts[group]! += blockCounts[at + group]!
    return true
  }

  /** The value or interval of each position. */
  get #groups(): Codes {
    return this.isByBin ? this.#bins!.binOfPosition! : this.#column.codes
  }

  /** How many positions of each block are in each group, block after block. */
  get #blockCounts(): Uint16Array | null {
    return this.isByBin ? this.#bins!.blockCounts : this.#column.blockCounts
  }

  /** The value or interval of all positions from `first` to `last`, if they are in one block that has only one. */
  #groupOf(first: number, last: number): number {
    const block = first >>> BLOCK_SHIFT
    if (last >>> BLOCK_SHIFT !== block) return SEVERAL
    const { blockMin, blockMax } = this.#column
    if (this.isByBin) {
      const bin = this.#groups[first]!
      return this.#bins!.blockCounts![block * this.#counts.length + bin] === BLOCK_ROWS ? bin : SEVERAL
    }
    return blockMin[block] === blockMax[block] ? blockMin[block]! : SEVERAL
  }

  /** Counts all positions, by the posting lists. */
  addAll(): void {
    const counts = this.#counts
    if (this.isByBin) {
      counts[0]! += this.#column.nulls
      const { codeEdges } = this.#bins!
      for (let bin = 1; bin < codeEdges.length; bin++)
        counts[bin]! += this.#column.countOf(codeEdges[bin - 1]!, codeEdges[bin]!)
    } else {
      for (let code = 0; code < counts.length; code++) counts[code]! += this.#column.countOf(code, code + 1)
    }
  }

  /** How many positions are in each interval, which is a range of codes. */
  #binCounts(): Uint32Array {
    if (this.isByBin) return this.#counts
    const { codeEdges } = this.#bins!
    const counts = new Uint32Array(codeEdges.length)
    for (let bin = 1; bin < codeEdges.length; bin++)
      for (let code = codeEdges[bin - 1]!; code < codeEdges[bin]!; code++) counts[bin]! += this.#counts[code]!
    return counts
  }

  result(): Facet {
    const counts = this.#counts
    const { type } = this.#column
    const nulls = counts[0]!
    if (this.#bins) {
      const { edges } = this.#bins
      const inBins = this.#binCounts()
      const histogram = edges.slice(1).map((to, i) => ({ from: edges[i]!, to, count: inBins[i + 1]! }))
      return { type, nulls, histogram }
    }
    const values = mostFrequent(counts, this.#limit, 1).map((code) => {
      return { value: this.#column.value(code)!, count: counts[code]! }
    })
    const all = counts.reduce((sum, count) => sum + count, 0)
    const others = values.reduce((rest, { count }) => rest - count, all - nulls)
    return { type, nulls, values, others }
  }
}

// The loops are alike. One loop that gets arrays of three widths takes three to five times as long.

function countPositions8(
  groups: Uint8Array,
  positions: Uint32Array,
  length: number,
  counts: Uint32Array,
): void {
  for (let i = 0; i < length; i++) counts[groups[positions[i]!]!]!++
}

function countPositions16(
  groups: Uint16Array,
  positions: Uint32Array,
  length: number,
  counts: Uint32Array,
): void {
  for (let i = 0; i < length; i++) counts[groups[positions[i]!]!]!++
}

function countPositions32(
  groups: Uint32Array,
  positions: Uint32Array,
  length: number,
  counts: Uint32Array,
): void {
  for (let i = 0; i < length; i++) counts[groups[positions[i]!]!]!++
}

function countRun8(groups: Uint8Array, begin: number, end: number, counts: Uint32Array): void {
  for (let position = begin; position < end; position++) counts[groups[position]!]!++
}

function countRun16(groups: Uint16Array, begin: number, end: number, counts: Uint32Array): void {
  for (let position = begin; position < end; position++) counts[groups[position]!]!++
}

function countRun32(groups: Uint32Array, begin: number, end: number, counts: Uint32Array): void {
  for (let position = begin; position < end; position++) counts[groups[position]!]!++
}
