import type { Clause } from '../filter/clause.ts'
import type { Value } from '../filter/cql2-text.ts'

/** The part of a box: percentiles 5, 25, 50, 75 and 95. */
export type BoxValues = [number, number, number, number, number]

/** A bar, a point or a box: a group of rows, or a part of one. */
export interface Mark {
  /** The group in words. */
  group: string
  /** The part of the group in words; null if the groups are not split. */
  part: string | null
  /** The ends of the group on the axis, times in milliseconds; null on an axis of values. */
  from: number | null
  to: number | null
  /** What is measured; null if the group has no value. */
  value: number | null
  /** Of points that stand for a cell, the upper end of the cell. */
  valueTo?: number
  box?: BoxValues
  rows: number
  /** What a click filters by; null for groups that no filter can be written for, such as the others. */
  clauses: Clause[] | null
}

/** What a chart draws and what its table has. */
export interface ChartData {
  axis: 'values' | 'numbers' | 'times'
  /** The period, or the width of the intervals. */
  step: string
  marks: Mark[]
  /** The groups in the order of the axis, and the parts in the order of the legend. */
  groups: string[]
  parts: string[]
  /** The number of each part's color: a value keeps its color whatever the filter is. */
  colors: number[]
  /** All rows that match, with and without a value. */
  rows: number
  /** What a reader has to know about the data. */
  notes: string[]
}

export const OTHERS = 'Others'
const NO_VALUE = '(no value)'

export function valueWords(value: Value | null): string {
  if (value === null) return NO_VALUE
  return value === '' ? '(empty)' : String(value)
}

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 })

export function numberWords(value: number): string {
  return number.format(value)
}

export function intervalWords(from: number, to: number): string {
  return `${numberWords(from)} to ${numberWords(to)}`
}

/** Whether a mark is inside what the filter says about its column: the others are drawn faintly. */
export function isInside(mark: Mark, own: Clause | undefined): boolean {
  const clause = mark.clauses?.[0]
  if (!own) return true
  if (own.kind === 'values') return clause?.kind === 'values' && own.values.includes(clause.values[0]!)
  if (own.kind !== 'range' || clause?.kind !== 'range') return own.kind !== 'range'
  const [low, high, from, to] = [own.from, own.to, clause.from, clause.to].map(numberOf)
  return (from ?? -Infinity) >= (low ?? -Infinity) && (to ?? Infinity) <= (high ?? Infinity)
}

function numberOf(value: Value | null): number | null {
  if (value === null || typeof value === 'number') return value
  const time = Date.parse(String(value))
  return Number.isNaN(time) ? Number(value) : time
}
