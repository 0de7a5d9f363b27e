import type { CompiledColumn } from '@wayleave/geodata/features'
import { boundOf } from '../../by-codes/code-bounds.ts'
import { invalidParameter } from '../../query-error.ts'
import type { TimedWork } from '../../work/timed-work.ts'
import type { Dimension, Named, ResultColumn, ResultValue } from '../aggregate-query.ts'
import type { Block } from '../columns/block.ts'
import { type DecodedColumns, groupsByPosition } from '../columns/decoded-columns.ts'
import type { ColumnCode, GroupDimension } from './group-dimension.ts'
import { type SegmentLabels, type Segments, valueLabels } from './segments.ts'
import { periodsOf } from './time-periods.ts'

/** The dimensions that are functions of one column. */
export type ColumnDimension = Named<Extract<Dimension, { column: string }>>

/** Segments between two looks at the clock. */
const STEP = 256

export async function columnGroups(
  dimension: ColumnDimension,
  column: CompiledColumn,
  decoded: DecodedColumns,
  work: TimedWork,
): Promise<GroupDimension> {
  if (dimension.kind === 'column') return new ValueGroups(dimension.name, column)
  const { name, ...definition } = dimension
  const key = `segments\n${JSON.stringify(definition)}`
  const grouped = await decoded.kept(key, bytesOf, () => groupedBySegments(dimension, column, work))
  return new SegmentGroups(name, column, grouped)
}

/** The groups of a column's values. */
interface GroupedValues {
  labels: SegmentLabels
  /** By code; null if there are groups by position. */
  byCode: Uint32Array | null
  byPosition: Uint16Array | null
}

/** An estimate of a segment in memory. */
const SEGMENT_BYTES = 16

function bytesOf({ labels, byCode, byPosition }: GroupedValues): number {
  return labels.count * SEGMENT_BYTES + (byCode?.byteLength ?? 0) + (byPosition?.byteLength ?? 0)
}

async function groupedBySegments(
  dimension: ColumnDimension,
  column: CompiledColumn,
  work: TimedWork,
): Promise<GroupedValues> {
  const segments = segmentsOf(dimension, column)
  const groupOf = new Uint32Array(column.codeCount)
  const distinct = column.values.length
  let steps = 0
  for (let index = 0; index < distinct; ) {
    const { group, end } = segments.next(index)
    groupOf.fill(group, index + 1, end + 1)
    index = end
    if (++steps % STEP === 0) await work.next()
  }
  const labels = segments.labels()
  const byPosition = await groupsByPosition(column, groupOf, labels.count + 1, work)
  return { labels, byCode: byPosition ? null : groupOf, byPosition }
}

/** Each value is a group. */
class ValueGroups implements GroupDimension {
  readonly size: number
  readonly columns: readonly ResultColumn[]
  readonly #column: CompiledColumn

  constructor(name: string, column: CompiledColumn) {
    this.#column = column
    this.size = column.codeCount
    this.columns = [{ name, type: column.type as ResultColumn['type'], unitOf: column.name }]
  }

  number(block: Block): Uint32Array {
    return block.codesOf(this.#column)
  }

  values(group: number): ResultValue[] {
    return [this.#column.value(group)]
  }

  code(group: number): ColumnCode {
    return { column: this.#column, code: group }
  }

  order(group: number): number {
    return group
  }
}

class SegmentGroups implements GroupDimension {
  readonly size: number
  readonly columns: readonly ResultColumn[]
  readonly #column: CompiledColumn
  readonly #grouped: GroupedValues
  readonly #labels: SegmentLabels

  constructor(name: string, column: CompiledColumn, grouped: GroupedValues) {
    const { labels } = grouped
    this.#column = column
    this.#grouped = grouped
    this.#labels = labels
    this.size = labels.count + 1
    this.columns = [{ name, type: labels.type, ...(labels.hasUnit && { unitOf: column.name }) }]
  }

  number(block: Block, groups: Uint32Array): Uint32Array {
    const { byPosition, byCode } = this.#grouped
    if (byPosition) return block.gather(byPosition, groups)
    const codes = block.codesOf(this.#column)
    const groupOf = byCode!
    for (let i = 0; i < block.length; i++) groups[i] = groupOf[codes[i]!]!
    return groups
  }

  values(group: number): ResultValue[] {
    return [group === 0 ? null : this.#labels.value(group)]
  }

  order(group: number): number {
    return group
  }
}

function segmentsOf(dimension: ColumnDimension, column: CompiledColumn): Segments {
  switch (dimension.kind) {
    case 'interval':
      return intervals(column, dimension.width)
    case 'quantile':
      return quantiles(column, dimension.count)
    case 'period':
      return periodsOf(column, dimension.period)
    case 'column':
      throw new TypeError('the values of a column are groups without segments')
  }
}

/** The first index from `from` on for which `isAbove` is true, which it stays. */
function firstAbove(from: number, length: number, isAbove: (index: number) => boolean): number {
  let low = from
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isAbove(middle)) high = middle
    else low = middle + 1
  }
  return low
}

function intervals(column: CompiledColumn, width: number): Segments {
  const { values } = column
  if (column.type === 'integer') return wholeIntervals(column, width)
  const numbers = values as Float64Array
  const ends = [Math.abs(numbers[0] ?? 0), Math.abs(numbers.at(-1) ?? 0)]
  // Beyond this, the number of an interval is not exact.
  if (Math.max(...ends) / width > Number.MAX_SAFE_INTEGER) throw tooNarrow(column, width)
  const decimals = Math.min(100, decimalsOf(width))
  const lower: number[] = []
  return {
    labels: () => valueLabels('number', lower),
    next(index) {
      const interval = Math.floor(numbers[index]! / width)
      // 3 * 0.1 is 0.30000000000000004; the lower end has no more decimals than the width.
      lower.push(Number((interval * width).toFixed(decimals)))
      const end = firstAbove(index + 1, numbers.length, (i) => Math.floor(numbers[i]! / width) > interval)
      return { group: lower.length, end }
    },
  }
}

/** Integers of any size; their intervals have whole ends. */
function wholeIntervals(column: CompiledColumn, width: number): Segments {
  if (!Number.isSafeInteger(width))
    throw invalidParameter('groupby', `"${column.name}" has integers, so intervals need a whole width`)
  const { values } = column
  const step = BigInt(width)
  const lower: (number | bigint)[] = []
  return {
    labels: () => valueLabels('integer', lower),
    next(index) {
      const value = BigInt(values[index]!)
      const from = value - (((value % step) + step) % step)
      lower.push(smallest(from))
      const end = boundOf(column, smallest(from + step), false) - 1
      return { group: lower.length, end }
    },
  }
}

function smallest(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function decimalsOf(width: number): number {
  const [digits, exponent = '0'] = String(width).split('e')
  return Math.max(0, (digits!.split('.')[1] ?? '').length - Number(exponent))
}

function tooNarrow({ name }: CompiledColumn, width: number): Error {
  return invalidParameter(
    'groupby',
    `has intervals of ${width}, which are too narrow for the values of "${name}"`,
  )
}

/** The quantiles of the whole dataset: intervals stay the same when a filter changes. Equal values are never divided. */
function quantiles(column: CompiledColumn, count: number): Segments {
  const { starts, values, nulls } = column
  const all = column.codes.length - nulls
  const bucketOf = (index: number) => Math.floor(((starts[index + 1]! - nulls) * count) / all)
  const lowest: ResultValue[] = []
  return {
    labels: () => valueLabels(column.type as ResultColumn['type'], lowest),
    next(index) {
      const bucket = bucketOf(index)
      lowest.push(column.value(index + 1))
      const end = firstAbove(index + 1, values.length, (i) => bucketOf(i) > bucket)
      return { group: lowest.length, end }
    },
  }
}
