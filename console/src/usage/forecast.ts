import { count, day, lastDays, plural } from '../words.ts'
import { sumOf, type UsageDay, type UsageMeasure } from './usage-period.ts'

/** Fewer whole days tell nothing about the next ones. */
const MIN_DAYS = 3
const DAY_MS = 86_400_000

export interface Forecast {
  measure: UsageMeasure
  /** How many whole days the rate is from, and how much was used on one of them. */
  days: number
  perDay: number
  /** The day on which the period ends, and how much is needed until then. */
  end: string
  needed: number
  /** The day on which nothing is left; null if the credits last until the end. */
  runsOut: string | null
}

/**
 * What will be used until the end of the period, if every day is like the days before today; null if there were too few
 * of them, or nothing was used. Days before the first use do not count: an organization may be new.
 */
export function forecastOf(
  days: readonly UsageDay[],
  { now, periodEnd, balance }: { now: number; periodEnd: string | null; balance: number },
): Forecast | null {
  const today = new Date(now).toISOString().slice(0, 10)
  const whole = days.filter(({ date }) => date < today)
  const first = whole.findIndex(({ calls, credits }) => calls > 0 || credits > 0)
  const used = first === -1 ? [] : whole.slice(first)
  if (used.length < MIN_DAYS) return null
  const measure = sumOf(used, 'credits') > 0 ? 'credits' : 'calls'
  const perDay = sumOf(used, measure) / used.length
  const end = periodEnd?.slice(0, 10) ?? lastOfMonth(now)
  const left = Math.max(0, (Date.parse(end) - Date.parse(today)) / DAY_MS)
  const needed = Math.round(perDay * left)
  const lasts = Math.max(0, balance) / perDay
  const isShort = measure === 'credits' && lasts < left
  const runsOut = isShort ? new Date(Date.parse(today) + Math.floor(lasts) * DAY_MS) : null
  return {
    measure,
    days: used.length,
    perDay,
    end,
    needed,
    runsOut: runsOut?.toISOString().slice(0, 10) ?? null,
  }
}

function lastOfMonth(now: number): string {
  const date = new Date(now)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).toISOString().slice(0, 10)
}

/** A forecast in a sentence or two. */
export function forecastWords(
  { measure, days, perDay, end, needed, runsOut }: Forecast,
  balance: number,
): string {
  const [unit, rate] = [measure === 'credits' ? 'credit' : 'call', roundRate(perDay)]
  const until = `At the rate of the last ${days} days (${rate} ${unit}s a day), you will need about ${plural(needed, unit)} until ${day(end)}.`
  if (measure === 'calls') return until
  if (runsOut === null) return `${until} ${balance === 1 ? '1 is' : `${count(balance)} are`} left.`
  return `${until} ${balance > 0 ? `The ${count(balance)} that are left last until about ${day(runsOut)}.` : 'None are left.'}`
}

function roundRate(perDay: number): string {
  return perDay < 10 ? String(Number(perDay.toPrecision(1))) : count(Math.round(perDay))
}

/** The days that a forecast is made from. */
export function forecastRange(now: number) {
  return lastDays(31, now)
}
