import type { Clause } from './clause.ts'

/** The condition that a row has the same value in a column; null if values of its type cannot be compared. */
export function clauseOfValue(column: string, type: string | undefined, value: unknown): Clause | null {
  if (type === undefined || type === 'json') return null
  if (value === null || value === undefined) return { kind: 'values', column, values: [], withNull: true }
  if (typeof value === 'boolean') return { kind: 'values', column, values: [value], withNull: false }
  if (typeof value !== 'string' && typeof value !== 'number') return null
  if (type === 'text') return { kind: 'values', column, values: [value], withNull: false }
  // As the control of numbers and times shows it.
  return { kind: 'range', column, from: value, to: value, isBelow: false }
}
