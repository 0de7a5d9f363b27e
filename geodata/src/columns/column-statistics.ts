import type { Column, ColumnType } from '../feature.ts'
import type { ColumnStatistics } from '../snapshot/column-statistics.ts'
import { featureValue } from './column-value.ts'
import type { DictionaryValues } from './dictionary.ts'

const BINS = 20
const FREQUENT = 10
/** Longer texts are left out: statistics are for summaries, and the manifest has to stay small. */
const MAX_TEXT = 100

/** `counts` has the number of rows of each code; `counts[0]` is the number of nulls. */
export function columnStatistics(
  { type }: Column,
  values: DictionaryValues,
  counts: Uint32Array,
): ColumnStatistics {
  const distinct = values.length
  const statistics: ColumnStatistics = { nulls: counts[0]!, distinct, isExact: true }
  if (distinct === 0) return statistics
  const [min, max] = [shown(type, values, 0), shown(type, values, distinct - 1)]
  if (min !== undefined) statistics.min = min
  if (max !== undefined) statistics.max = max
  if (values instanceof Float64Array && type !== 'boolean') {
    if (type === 'integer' || type === 'number') statistics.mean = mean(values, counts)
    statistics.histogram = histogram(values, counts)
  }
  const frequent = mostFrequent(counts).flatMap((code) => {
    const value = shown(type, values, code - 1)
    return value === undefined ? [] : [{ value, count: counts[code]! }]
  })
  if (frequent.length > 0) statistics.frequent = frequent
  return statistics
}

function shown(
  type: ColumnType,
  values: DictionaryValues,
  index: number,
): string | number | boolean | undefined {
  const value = featureValue(type, values, index)
  // JSON of the manifest has no integers beyond 2^53.
  if (typeof value === 'bigint') return undefined
  return typeof value === 'string' && value.length > MAX_TEXT ? undefined : value
}

function mean(values: Float64Array, counts: Uint32Array): number {
  let sum = 0
  let count = 0
  for (let i = 0; i < values.length; i++) {
    sum += values[i]! * counts[i + 1]!
    count += counts[i + 1]!
  }
  return sum / count
}

function histogram(values: Float64Array, counts: Uint32Array): number[] {
  const [min, max] = [values[0]!, values[values.length - 1]!]
  const bins = new Array<number>(max > min ? BINS : 1).fill(0)
  const scale = max > min ? bins.length / (max - min) : 0
  for (let i = 0; i < values.length; i++) {
    bins[Math.min(bins.length - 1, Math.floor((values[i]! - min) * scale))]! += counts[i + 1]!
  }
  return bins
}

/** The codes with the largest counts, largest first; equal counts by value. Empty if no value repeats. */
export function mostFrequent(counts: Uint32Array, max = FREQUENT, min = 2): number[] {
  const top: number[] = []
  let threshold = min - 1
  for (let code = 1; code < counts.length; code++) {
    const count = counts[code]!
    if (count <= threshold) continue
    let at = top.length
    while (at > 0 && counts[top[at - 1]!]! < count) at--
    top.splice(at, 0, code)
    if (top.length > max) top.pop()
    if (top.length === max) threshold = counts[top[max - 1]!]!
  }
  return top
}
