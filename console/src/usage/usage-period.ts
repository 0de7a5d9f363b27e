import type { UsageReport } from '@wayleave/contract/records'
import type { DateRange, UsageFilter } from '../api/queries.ts'
import { count, lastDays } from '../words.ts'

export type UsageDay = UsageReport['days'][number]
export type UsageMeasure = 'calls' | 'credits'

const DAY = 86_400_000
/** The service reports no more days at once. */
export const MAX_DAYS = 366
const DEFAULT_DAYS = 30

/** The number of days, both ends included. */
export function daysIn({ startDate, endDate }: DateRange): number {
  return Math.round((Date.parse(endDate) - Date.parse(startDate)) / DAY) + 1
}

/** As many days, up to the day before the range. */
export function periodBefore(range: DateRange): DateRange {
  return lastDays(daysIn(range), Date.parse(range.startDate) - DAY)
}

/** The range that an address has; the last 30 days if it has none, or one that cannot be reported. */
export function readRange(parameters: URLSearchParams, now: number): DateRange {
  const range = { startDate: parameters.get('from') ?? '', endDate: parameters.get('to') ?? '' }
  const days = daysIn(range)
  const areDates = Object.values(range).every((date) => /^\d{4}-\d\d-\d\d$/.test(date))
  return areDates && days >= 1 && days <= MAX_DAYS ? range : lastDays(DEFAULT_DAYS, now)
}

/** The key and the dataset that an address has. */
export function readFilter(parameters: URLSearchParams): UsageFilter {
  const [keyId, table] = [parameters.get('key'), parameters.get('table')]
  return { ...(keyId ? { keyId } : {}), ...(table ? { table } : {}) }
}

/** Such as “12 % more than in the 30 days before”. */
export function changeWords(value: number, before: number, days: number): string {
  const period = days === 1 ? 'on the day before' : `in the ${days} days before`
  if (before === 0) return value === 0 ? `none ${period} either` : `none ${period}`
  const percent = Math.round((Math.abs(value - before) / before) * 100)
  if (value === before) return `as many as ${period}`
  if (percent === 0) return `about as many as ${period}`
  // Beyond that, a factor is easier to imagine.
  if (value > before * 10) return `${count(Math.round(value / before))} times as many as ${period}`
  return `${percent} % ${value > before ? 'more' : 'less'} than ${period}`
}

export function sumOf(rows: readonly Pick<UsageDay, UsageMeasure>[], measure: UsageMeasure): number {
  return rows.reduce((sum, one) => sum + one[measure], 0)
}
