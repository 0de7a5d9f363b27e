import type { Value } from '../../feature.ts'
import { type SqliteValue, toValue } from '../sqlite/sqlite-dialect.ts'

/** The forms that programs write into columns of dates and times: the year first, with hyphens or slashes. */
const TIME =
  /^\s*(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?\s*$/
const UNIX_EPOCH_JULIAN_DAY = 2440587.5
const MS_PER_DAY = 86_400_000
/** The Julian day of the end of the year 9999. */
const MAX_JULIAN_DAY = 5373484.5

/** A time as ISO 8601, from a text or from a Julian day, as SQLite's functions return it. Others stay as they are. */
export function toTimestamp(value: SqliteValue): Value {
  if (typeof value === 'number' && value > 0 && value < MAX_JULIAN_DAY)
    return new Date(Math.round((value - UNIX_EPOCH_JULIAN_DAY) * MS_PER_DAY)).toISOString().slice(0, -1)
  const [, year, month, day, hour, minute, second, zone = ''] =
    typeof value === 'string' ? (TIME.exec(value) ?? []) : []
  if (year === undefined) return toValue(value)
  const time = hour === undefined ? '00:00:00' : `${padded(hour)}:${minute}:${second ?? '00'}`
  return `${year}-${padded(month!)}-${padded(day!)}T${time}${zone}`
}

/** A date; a text that also has a time stays as it is, unless the time is midnight. */
export function toDate(value: SqliteValue): Value {
  const timestamp = toTimestamp(value)
  if (typeof timestamp !== 'string') return timestamp
  const day = /^(\d{4}-\d{2}-\d{2})T00:00:00(\.0+)?$/.exec(timestamp)?.[1]
  return day ?? toValue(value)
}

function padded(digits: string): string {
  return digits.padStart(2, '0')
}
