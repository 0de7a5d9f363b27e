import type { Period } from './chart.ts'

const DAY_MS = 86_400_000
const MONTHS: Partial<Record<Period, number>> = { year: 12, quarter: 3, month: 1 }
const LENGTHS: Partial<Record<Period, number>> = { week: 7 * DAY_MS, day: DAY_MS, hour: DAY_MS / 24 }

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** The longest time, in days, that each period divides into a readable number of groups. */
const FITS: [days: number, period: Period][] = [
  [4, 'hour'],
  [200, 'day'],
  [1400, 'week'],
  [6000, 'month'],
  [18_000, 'quarter'],
]

/** The period that divides a time into up to some 200 groups. */
export function fittingPeriod(first: number, last: number, type: string): Period {
  const days = (last - first) / DAY_MS
  const [, period] =
    FITS.find(([longest, name]) => days <= longest && (name !== 'hour' || type === 'timestamp')) ?? []
  return period ?? 'year'
}

/** The start of the period after the one that starts at a time, both in milliseconds. */
export function nextPeriod(start: number, period: Period): number {
  const length = LENGTHS[period]
  if (length) return start + length
  const date = new Date(start)
  return date.setUTCMonth(date.getUTCMonth() + MONTHS[period]!)
}

/** The start of a period as the service returns it: a year is a number, the others are texts in ISO 8601. */
export function periodStart(value: string | number | boolean): number {
  if (typeof value === 'string') return Date.parse(value)
  // Date.UTC takes years below 100 as those of the 20th century.
  return new Date(0).setUTCFullYear(Number(value), 0, 1)
}

/** The start of a period as a value of a column. */
export function timeValue(time: number, type: string): string {
  const text = new Date(time).toISOString()
  return type === 'date' ? text.slice(0, 10) : text.replace('.000Z', 'Z')
}

export function periodWords(start: number, period: Period): string {
  const date = new Date(start)
  const year = date.getUTCFullYear()
  const format = (options: Intl.DateTimeFormatOptions) =>
    date.toLocaleDateString('en-GB', { timeZone: 'UTC', ...options })
  if (period === 'year') return String(year)
  if (period === 'quarter') return `${year} Q${Math.floor(date.getUTCMonth() / 3) + 1}`
  if (period === 'month') return format({ month: 'short', year: 'numeric' })
  const day = format({ day: 'numeric', month: 'short', year: 'numeric' })
  if (period === 'week') return `Week of ${day}`
  return period === 'hour' ? `${day}, ${date.toISOString().slice(11, 16)}` : day
}
