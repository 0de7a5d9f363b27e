const DAY_MS = 86_400_000
const DAY_SECONDS = 86_400n

/** Whether the date exists in the calendar of ISO 8601 (proleptic Gregorian), from the year 1 on. */
export function isDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= (month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31)
}

/** The most days before or after 1970-01-01 that `Date` represents. */
const MAX_DATE_DAYS = 100_000_000
/** The calendar repeats after 400 years. */
const CYCLE_YEARS = 400
const CYCLE_DAYS = 146_097

/** The day with this number, counted from 1970-01-01; a year beyond 9999 has a sign and six digits or more. */
export function dateText(day: number): string {
  if (Math.abs(day) <= MAX_DATE_DAYS) return new Date(day * DAY_MS).toISOString().replace(/T.*/, '')
  const cycles = Math.floor(day / CYCLE_DAYS)
  const sameDay = dateText(day - cycles * CYCLE_DAYS)
  const year = Number(sameDay.slice(0, 4)) + cycles * CYCLE_YEARS
  return `${year < 0 ? '-' : '+'}${Math.abs(year)}${sameDay.slice(4)}`
}

/** The time, in UTC, of a number of microseconds since 1970-01-01. */
export function timestampText(microseconds: bigint): string {
  const inSecond = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n
  const second = secondText((microseconds - inSecond) / 1_000_000n)
  const fraction = inSecond === 0n ? '' : `.${String(inSecond).padStart(6, '0').replace(/0+$/, '')}`
  return `${second}${fraction}Z`
}

function secondText(seconds: bigint): string {
  const milliseconds = Number(seconds) * 1000
  if (Math.abs(milliseconds) < MAX_DATE_DAYS * DAY_MS)
    return new Date(milliseconds).toISOString().slice(0, -5)
  const inDay = ((seconds % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS
  const clock = new Date(Number(inDay) * 1000).toISOString().slice(11, 19)
  return `${dateText(Number((seconds - inDay) / DAY_SECONDS))}T${clock}`
}

/** As `timestampText`, of nanoseconds; with nine digits of the second if some of the last three are not zero. */
export function nanosecondText(nanoseconds: bigint): string {
  const finer = ((nanoseconds % 1000n) + 1000n) % 1000n
  const text = timestampText((nanoseconds - finer) / 1000n)
  if (finer === 0n) return text
  const [second, fraction = ''] = text.slice(0, -1).split('.')
  return `${second}.${fraction.padEnd(6, '0')}${String(finer).padStart(3, '0')}Z`
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
