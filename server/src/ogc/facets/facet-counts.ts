import { type CompiledColumn, mostFrequent } from '@wayleave/geodata/features'
import type { TimedWork } from '../select/timed-work.ts'
import { histogramBins, loadRowBins } from './histogram-bins.ts'

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

/** Counts the values of one compiled column. */
export class FacetCounts {
  readonly #column: CompiledColumn
  readonly #limit: number
  readonly #bins: ReturnType<typeof histogramBins>
  readonly #counts: Uint32Array

  /** A column with more than `limit` distinct values that have a distance gets a histogram. */
  constructor(column: CompiledColumn, limit: number, bins: number) {
    this.#column = column
    this.#limit = limit
    this.#bins = column.values.length > limit ? histogramBins(column, bins) : null
    this.#counts = new Uint32Array(this.#bins ? this.#bins.edges.length : column.codeCount)
  }

  /** Has to end before the first call of `addRows`. */
  async prepareRows(work: TimedWork): Promise<void> {
    if (this.#bins) await loadRowBins(this.#column, this.#bins, work)
  }

  /** Counts the first `length` of these rows. */
  addRows(rows: Uint32Array, length: number): void {
    const groups = this.#bins === null ? this.#column.codes : this.#bins.binOfRow!
    const counts = this.#counts
    if (groups instanceof Uint8Array) count8(groups, rows, length, counts)
    else if (groups instanceof Uint16Array) count16(groups, rows, length, counts)
    else count32(groups, rows, length, counts)
  }

  /** Counts all rows, by the posting lists. */
  addAll(): void {
    const { codeCount, nulls } = this.#column
    const counts = this.#counts
    if (this.#bins === null) {
      for (let code = 0; code < codeCount; code++) counts[code]! += this.#column.countOf(code, code + 1)
      return
    }
    const { codeEdges } = this.#bins
    counts[0]! += nulls
    for (let bin = 1; bin < codeEdges.length; bin++) {
      counts[bin]! += this.#column.countOf(codeEdges[bin - 1]!, codeEdges[bin]!)
    }
  }

  result(): Facet {
    const counts = this.#counts
    const { type } = this.#column
    const nulls = counts[0]!
    if (this.#bins) {
      const { edges } = this.#bins
      const histogram = edges.slice(1).map((to, i) => ({ from: edges[i]!, to, count: counts[i + 1]! }))
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

// The three loops are alike. One loop that gets arrays of three widths takes three to five times as long.

function count8(groups: Uint8Array, rows: Uint32Array, length: number, counts: Uint32Array): void {
  for (let i = 0; i < length; i++) counts[groups[rows[i]!]!]!++
}

function count16(groups: Uint16Array, rows: Uint32Array, length: number, counts: Uint32Array): void {
  for (let i = 0; i < length; i++) counts[groups[rows[i]!]!]!++
}

function count32(groups: Uint32Array, rows: Uint32Array, length: number, counts: Uint32Array): void {
  for (let i = 0; i < length; i++) counts[groups[rows[i]!]!]!++
}
