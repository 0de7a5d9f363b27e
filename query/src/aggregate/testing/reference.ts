import type { Dimension, Measure, ResultValue } from '../aggregate-query.ts'

/** A feature as plain values. Integers are bigint, dates and times texts. */
export interface Row {
  properties: Record<string, ResultValue>
  /** The values of dimensions that depend on the place. */
  place?: Record<string, ResultValue>
}

/** Aggregates by the simplest possible code, one group at a time, to compare the engine with. */
export function referenceAggregate(
  rows: readonly Row[],
  dimensions: readonly Dimension[],
  measures: readonly Measure[],
): Map<string, ResultValue[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const key = keyOf(dimensions.map((dimension) => dimensionValue(row, dimension, rows)))
    const members = groups.get(key)
    if (members) members.push(row)
    else groups.set(key, [row])
  }
  if (dimensions.length === 0 && rows.length === 0) groups.set(keyOf([]), [])
  return new Map(
    Array.from(groups, ([key, members]) => [key, measures.map((measure) => measureValue(members, measure))]),
  )
}

export function keyOf(values: readonly ResultValue[]): string {
  return JSON.stringify(
    values.map((value) => (typeof value === 'number' || typeof value === 'bigint' ? `#${value}` : value)),
  )
}

function dimensionValue({ properties, place }: Row, dimension: Dimension, _all: readonly Row[]): ResultValue {
  if (!('column' in dimension)) return place![dimension.kind]!
  const value = properties[dimension.column]!
  if (value === null || dimension.kind === 'column') return value
  if (dimension.kind === 'interval') {
    if (typeof value !== 'bigint') return Math.floor((value as number) / dimension.width) * dimension.width
    const width = BigInt(dimension.width)
    return value - (((value % width) + width) % width)
  }
  if (dimension.kind !== 'period') throw new Error('only by the whole dataset')
  const text = value as string
  const [date, month] = [text.slice(0, 10), Number(text.slice(5, 7))]
  const weekday = (new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7
  switch (dimension.period) {
    case 'year':
      return Number(text.slice(0, 4))
    case 'quarter':
      return `${text.slice(0, 5)}${String(month - ((month - 1) % 3)).padStart(2, '0')}-01`
    case 'month':
      return `${text.slice(0, 8)}01`
    case 'week':
      return new Date(Date.parse(date) - weekday * 86_400_000).toISOString().slice(0, 10)
    case 'day':
      return date
    case 'hour':
      return `${text.slice(0, 13)}:00:00Z`
    case 'weekday':
      return weekday + 1
  }
}

function measureValue(rows: readonly Row[], measure: Measure): ResultValue {
  if (measure.kind === 'count') return rows.length
  if (!('column' in measure)) throw new Error('not a measure of values')
  const { column } = measure
  const values = rows.map(({ properties }) => properties[column]!).filter((value) => value !== null)
  if (measure.kind === 'distinct') return new Set(values).size
  if (values.length === 0) return null
  const sorted = values.toSorted(compare)
  switch (measure.kind) {
    case 'min':
      return sorted[0]!
    case 'max':
      return sorted.at(-1)!
    case 'sum':
      return sumOf(values)
    case 'mean':
      return meanOf(values)
    case 'stddev':
      return values.length < 2 ? null : deviationOf(values.map(Number))
    case 'percentile':
      return percentileOf(sorted, measure.percent)
    case 'first':
    case 'last': {
      const timed = rows.filter(
        ({ properties }) => properties[measure.column] !== null && properties[measure.time] !== null,
      )
      const times = timed.map(({ properties }) => properties[measure.time] as string).sort()
      const wanted = measure.kind === 'first' ? times[0] : times.at(-1)
      return (
        timed.find(({ properties }) => properties[measure.time] === wanted)?.properties[measure.column] ??
        null
      )
    }
  }
}

function compare(a: ResultValue, b: ResultValue): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  return a! < b! ? -1 : a! > b! ? 1 : 0
}

function sumOf(values: ResultValue[]): number | bigint {
  if (typeof values[0] === 'bigint') return (values as bigint[]).reduce((sum, value) => sum + value, 0n)
  return exactSum(values as number[])
}

/** The sum as a fraction of integers, rounded once. All values are multiples of 2^-40 below 2^60. */
function exactSum(values: number[]): number {
  const sum = values.reduce((all, value) => all + BigInt(value * 2 ** 40), 0n)
  return Number(sum) / 2 ** 40
}

function meanOf(values: ResultValue[]): number {
  const sum = sumOf(values)
  return Number(sum) / values.length
}

function deviationOf(values: number[]): number {
  const mean = values.reduce((sum, value) => sum + value / values.length, 0)
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return Math.sqrt(squares / (values.length - 1))
}

function percentileOf(sorted: ResultValue[], percent: number): ResultValue {
  const rank = ((sorted.length - 1) * percent) / 100
  const [below, above] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!]
  if (typeof below === 'string' || below === above) return below
  return Number(below) + (Number(above) - Number(below)) * (rank - Math.floor(rank))
}
