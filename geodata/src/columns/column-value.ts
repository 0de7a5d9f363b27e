import type { ColumnType } from '../feature.ts'
import type { DictionaryValues } from './dictionary.ts'

const DAY_MS = 86_400_000

/** A value of a dictionary as it is in a feature. */
export function featureValue(
  type: ColumnType,
  values: DictionaryValues,
  index: number,
): string | number | bigint | boolean {
  const value = values[index]!
  switch (type) {
    case 'boolean':
      return value === 1
    case 'date':
      return dateText(Number(value))
    case 'timestamp':
      return timestampText(BigInt(value))
    case 'integer':
      // Integers that need more than 64 bits are stored as text.
      return typeof value === 'string' ? integerOf(value) : value
    default:
      return value
  }
}

function integerOf(text: string): number | bigint {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** The day with this number, counted from 1970-01-01. */
export function dateText(day: number): string {
  return new Date(day * DAY_MS).toISOString().replace(/T.*/, '')
}

/** The time, in UTC, of a number of microseconds since 1970-01-01. */
export function timestampText(microseconds: bigint): string {
  const inSecond = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n
  const second = new Date(Number((microseconds - inSecond) / 1000n)).toISOString().slice(0, -5)
  const fraction = inSecond === 0n ? '' : `.${String(inSecond).padStart(6, '0').replace(/0+$/, '')}`
  return `${second}${fraction}Z`
}

/** The number of the day `2025-12-31`, counted from 1970-01-01. */
export function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY_MS
}

/** Microseconds since 1970-01-01 of `2025-12-31T23:59:59.123456`, in UTC. */
export function microsecondsOf(timestamp: string): bigint {
  const second = BigInt(Date.parse(`${timestamp.slice(0, 19)}Z`)) * 1000n
  return second + BigInt(timestamp.slice(20).padEnd(6, '0'))
}
