import type { Value } from '../filter/cql2-text.ts'

/** Groups of rows with measures of each, as the service returns them. */
export interface Aggregate {
  rows: (Value | null)[][]
  numberGroups: number
}

export interface AggregateQuery {
  groupby?: string[]
  measures: string[]
  filter: string
  sortby?: string
  limit?: number
}

/** Asks for the groups of one dataset. */
export type Ask = (query: AggregateQuery) => Promise<Aggregate>

/** A column's name as a part of a request. */
export function reference(name: string): string {
  return /[",()]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
}

/** Joins conditions in CQL2; empty ones are left out. */
export function allOf(...conditions: string[]): string {
  const parts = conditions.filter((condition) => condition !== '')
  return parts.length < 2 ? (parts[0] ?? '') : parts.map((part) => `(${part})`).join(' AND ')
}
