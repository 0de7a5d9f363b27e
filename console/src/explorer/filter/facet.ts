import type { DatasetDetails } from '@wayleave/contract/records'
import type { Value } from './cql2-text.ts'

/** The values of a column among the rows that match, as the service counts them. */
export interface Facet {
  type: string
  nulls: number
  values?: { value: Value; count: number }[]
  others?: number
  histogram?: HistogramBin[]
}

/** `from` belongs to the interval, `to` only to the last one. */
export interface HistogramBin {
  from: Value
  to: Value
  count: number
}

export type Column = DatasetDetails['columns'][number]

export const FACET_VALUES = 20
export const FACET_BINS = 30

/**
 * Columns whose values repeat can be counted. Texts that are nearly all different, such as names and addresses, can
 * only be searched.
 */
export function isCountable({ name, type }: Column, dataset: DatasetDetails): boolean {
  if (type === 'json') return false
  if (type !== 'text') return true
  const statistics = dataset.statistics?.[name]
  const values = dataset.rows - (statistics?.nulls ?? 0)
  return statistics === undefined || (statistics.distinct <= values / 2 && statistics.distinct > 0)
}

/** The facet of all rows from the public statistics, for users without a key. */
export function facetOfStatistics({ name, type }: Column, dataset: DatasetDetails): Facet | null {
  const statistics = dataset.statistics?.[name]
  if (!statistics) return null
  const { nulls, min, max, histogram, frequent } = statistics
  if (histogram && min !== undefined && max !== undefined) {
    return { type, nulls, histogram: binsBetween(type, min, max, histogram) }
  }
  if (!frequent) return null
  const others = frequent.reduce((rest, { count }) => rest - count, dataset.rows - nulls)
  return { type, nulls, values: frequent, others }
}

function binsBetween(type: string, min: Value, max: Value, counts: number[]): HistogramBin[] {
  const isTime = type === 'date' || type === 'timestamp'
  const [low, high] = isTime ? [Date.parse(String(min)), Date.parse(String(max))] : [Number(min), Number(max)]
  const edge = (index: number): Value => {
    if (index === 0) return min
    if (index === counts.length) return max
    const value = low + ((high - low) * index) / counts.length
    if (!isTime) return value
    const text = new Date(value).toISOString()
    return type === 'date' ? text.slice(0, 10) : text
  }
  return counts.map((count, index) => ({ from: edge(index), to: edge(index + 1), count }))
}
