import type { UsageCount, UsageReport } from '@wayleave/contract/records'
import { type Clock, DAY } from '../../base/clock.ts'
import { invalidInput } from '../../base/problem.ts'
import type { UsageRange, UsageRow } from './usage-store.ts'

const DEFAULT_DAYS = 30
const MAX_DAYS = 366

/** Dates are UTC and inclusive; the default is the last 30 days. */
export function usageRange(dates: { startDate?: string; endDate?: string }, clock: Clock): UsageRange {
  const endDate =
    dates.endDate === undefined ? textOf(clock().getTime()) : checkDate('endDate', dates.endDate)
  const startDate =
    dates.startDate === undefined
      ? textOf(Date.parse(endDate) - (DEFAULT_DAYS - 1) * DAY)
      : checkDate('startDate', dates.startDate)
  const days = (Date.parse(endDate) - Date.parse(startDate)) / DAY + 1
  if (days < 1) throw invalidInput('startDate', 'must not be after endDate')
  if (days > MAX_DAYS) throw invalidInput('startDate', `must be at most ${MAX_DAYS} days before endDate`)
  return { startDate, endDate }
}

export function usageReport(range: UsageRange, rows: UsageRow[]): UsageReport {
  const days = new Map<string, UsageCount>()
  for (let at = Date.parse(range.startDate); at <= Date.parse(range.endDate); at += DAY) {
    days.set(textOf(at), { calls: 0, credits: 0 })
  }
  const totals = { calls: 0, credits: 0 }
  for (const row of rows) {
    add(totals, row)
    add(days.get(row.date)!, row)
  }
  return {
    ...range,
    totals,
    days: [...days].map(([date, count]) => ({ date, ...count })),
    operations: groupUsage(rows, (row) => ({
      operation: row.operation,
      table: row.table_name || null,
      format: row.format || null,
    })),
  }
}

/** Sums the rows for which `nameOf` returns equal names, sorted by calls in descending order. */
export function groupUsage<N extends object>(
  rows: UsageRow[],
  nameOf: (row: UsageRow) => N,
): (N & UsageCount)[] {
  const groups = new Map<string, N & UsageCount>()
  for (const row of rows) {
    const name = nameOf(row)
    const label = JSON.stringify(name)
    const group = groups.get(label) ?? { ...name, calls: 0, credits: 0 }
    groups.set(label, group)
    add(group, row)
  }
  return [...groups.values()].sort(
    (a, b) => b.calls - a.calls || (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1),
  )
}

function add(count: UsageCount, row: UsageRow): void {
  count.calls += row.calls
  count.credits += row.credits
}

/** Accepts a date, or a timestamp, of which the UTC date is used. */
function checkDate(name: string, text: string): string {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/
  const at = form.test(text) ? Date.parse(text) : Number.NaN
  const day = Date.parse(text.slice(0, 10))
  // JavaScript parses February 30 as March 2. Years after 9999 are formatted, and sort, differently.
  if (Number.isNaN(at + day) || textOf(day) !== text.slice(0, 10) || textOf(at) < '1000')
    throw invalidInput(name, 'must be a date such as 2026-01-31')
  return textOf(at)
}

function textOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}
