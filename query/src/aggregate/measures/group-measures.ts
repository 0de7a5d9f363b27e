import { BLOCK_ROWS, type CompiledColumn } from '@wayleave/geodata/features'
import type { Measure, Named, ResultColumn, ResultValue } from '../aggregate-query.ts'
import type { Block } from '../columns/block.ts'
import type { DecodedColumns } from '../columns/decoded-columns.ts'
import { finite, type GroupAccount, type GroupMeasure, ValueCounts } from './group-measure.ts'
import { CodesByTime, Deviations, ExtremeCodes } from './measure-extremes.ts'
import { type ColumnSums, CompensatedSums, columnSums, meanOf, sumOf } from './measure-sums.ts'
import { ColumnWalk, DistinctCounts, PercentileCodes } from './measure-walks.ts'

export interface MeasureData {
  columns: ReadonlyMap<string, CompiledColumn>
  decoded: DecodedColumns
  /** By position, in m² and m. */
  sizes: { area?: Float64Array | undefined; length?: Float64Array | undefined }
}

/** The measures of a query and the accounts that they read. Accounts of one column are shared. */
export class GroupMeasures {
  readonly measures: GroupMeasure[]
  readonly accounts: GroupAccount[] = []
  /** How many features each group has. */
  readonly counts: Uint32Array
  readonly #data: MeasureData
  readonly #valueCounts = new Map<CompiledColumn, ValueCounts>()
  readonly #walks = new Map<CompiledColumn, ColumnWalk>()
  readonly #sums = new Map<CompiledColumn, ColumnSums>()

  constructor(measures: readonly Named<Measure>[], data: MeasureData, capacity: number) {
    this.#data = data
    this.counts = new Uint32Array(capacity)
    this.measures = measures.map((measure) => this.#make(measure))
  }

  /** What is left after the last position and needs the group of every position. */
  get walks(): ColumnWalk[] {
    return [...this.#walks.values()]
  }

  add(block: Block): void {
    countGroups(block.groups, block.length, this.counts)
    for (const account of this.accounts) account.add(block)
  }

  /** Adds the features of a group to another group. Measures that are not mergeable are wrong after it. */
  merge(group: number, into: number): void {
    this.counts[into]! += this.counts[group]!
    for (const account of this.accounts) account.merge(group, into)
  }

  #make(measure: Named<Measure>): GroupMeasure {
    const { name } = measure
    switch (measure.kind) {
      case 'count':
        return numbers({ name, type: 'integer' }, (group) => this.counts[group]!)
      case 'area':
      case 'length':
        return this.#sizes(name, measure.kind)
      case 'distinct': {
        const distinct = this.#walkOf(this.#column(measure.column)).add(
          new DistinctCounts(this.counts.length),
        )
        return fromFeatures(numbers({ name, type: 'integer' }, (group) => distinct.counts[group]!))
      }
      case 'sum':
      case 'mean':
        return this.#sum(name, this.#column(measure.column), measure.kind === 'mean')
      case 'min':
      case 'max': {
        const column = this.#column(measure.column)
        const extremes = this.#added(new ExtremeCodes(column, measure.kind === 'max', this.counts.length))
        return values(name, column, extremes.codes)
      }
      case 'first':
      case 'last': {
        const column = this.#column(measure.column)
        const [time, isLast] = [this.#column(measure.time), measure.kind === 'last']
        const codes = this.#added(new CodesByTime(column, time, isLast, this.counts.length)).codes
        return values(name, column, codes)
      }
      case 'stddev': {
        const column = this.#column(measure.column)
        const deviations = this.#added(new Deviations(column, this.counts.length))
        return numbers({ name, type: 'number', unitOf: column.name }, (group) => deviations.deviation(group))
      }
      case 'percentile':
        return fromFeatures(this.#percentile(name, this.#column(measure.column), measure.percent))
    }
  }

  #column(name: string): CompiledColumn {
    return this.#data.columns.get(name)!
  }

  #added<T extends GroupAccount>(account: T): T {
    this.accounts.push(account)
    return account
  }

  /** How many features of each group have a value. */
  #countsOf(column: CompiledColumn): Uint32Array {
    if (column.nulls === 0) return this.counts
    let counts = this.#valueCounts.get(column)
    if (counts === undefined) {
      counts = this.#added(new ValueCounts(column, this.counts.length))
      this.#valueCounts.set(column, counts)
    }
    return counts.counts
  }

  #walkOf(column: CompiledColumn): ColumnWalk {
    let walk = this.#walks.get(column)
    if (walk === undefined) {
      walk = new ColumnWalk(column)
      this.#walks.set(column, walk)
    }
    return walk
  }

  #sum(name: string, column: CompiledColumn, isMean: boolean): GroupMeasure {
    let sums = this.#sums.get(column)
    if (sums === undefined) {
      sums = this.#added(columnSums(column, this.#data.decoded, this.#countsOf(column)))
      this.#sums.set(column, sums)
    }
    const type = column.type === 'integer' && !isMean ? 'integer' : 'number'
    return numbers({ name, type, unitOf: column.name }, (group) =>
      isMean ? meanOf(sums, group) : sumOf(sums, group),
    )
  }

  #percentile(name: string, column: CompiledColumn, percent: number): GroupMeasure {
    const percentiles = this.#walkOf(column).add(new PercentileCodes(percent, this.#countsOf(column)))
    const { lower, upper } = percentiles
    const isNumber = column.type === 'integer' || column.type === 'number'
    // Other values have no middle: the percentile is the value below it.
    if (!isNumber) return values(name, column, lower)
    return numbers({ name, type: 'number', unitOf: column.name }, (group) => {
      if (lower[group] === 0) return null
      const below = column.value(lower[group]!) as number | bigint
      const fraction = percentiles.fraction(group)
      if (fraction === 0 || lower[group] === upper[group]) return below
      return between(Number(below), Number(column.value(upper[group]!)), fraction)
    })
  }

  #sizes(name: string, kind: 'area' | 'length'): GroupMeasure {
    const sizes = this.#data.sizes[kind]!
    const sums = new CompensatedSums(this.counts.length)
    const copy = new Float64Array(BLOCK_ROWS)
    this.accounts.push({
      add: ({ positions, groups, length }) => {
        for (let i = 0; i < length; i++) copy[i] = sizes[positions[i]!]!
        sums.add(copy, 1, groups, length)
      },
      merge: (group, into) => sums.merge(group, into),
    })
    const unit = kind === 'area' ? 'm²' : 'm'
    return numbers({ name, type: 'number', unit }, (group) => finite(sums.sum(group)))
  }
}

function countGroups(groups: Uint32Array, length: number, counts: Uint32Array): void {
  for (let i = 0; i < length; i++) counts[groups[i]!]!++
}

/** Exact at both ends, and finite also if the distance of the numbers is not. */
function between(below: number, above: number, fraction: number): number {
  const distance = above - below
  return Number.isFinite(distance) ? below + distance * fraction : below * (1 - fraction) + above * fraction
}

function numbers(column: ResultColumn, value: (group: number) => number | bigint | null): GroupMeasure {
  return { column, value, order: value, isMergeable: true }
}

/** A measure that only the features of a group tell, not the measures of its parts. */
function fromFeatures(measure: GroupMeasure): GroupMeasure {
  return { ...measure, isMergeable: false }
}

/** Values of a column, sorted by their codes. */
function values(name: string, column: CompiledColumn, codes: Uint32Array): GroupMeasure {
  return {
    column: { name, type: column.type as ResultColumn['type'], unitOf: column.name },
    value: (group): ResultValue => column.value(codes[group]!),
    code: (group) => ({ column, code: codes[group]! }),
    order: (group) => (codes[group] === 0 ? null : codes[group]!),
    isMergeable: true,
  }
}
