import { type CompiledColumn, dateText, timestampText } from '@wayleave/geodata/features'
import { boundOf } from '../../by-codes/code-bounds.ts'
import type { Period, ResultColumn, ResultValue } from '../aggregate-query.ts'
import type { SegmentLabels, Segments } from './segments.ts'

const DAY_HOURS = 24
const HOUR_MICROSECONDS = 3_600_000_000n

/** A period by its first day, or by its first hour if it is one, counted from 1970; and when the next one begins. */
interface Span {
  from: number
  to: number
}

/**
 * The periods of dates and times, in UTC. Values ascend, so the values of a period are found by its ends, and a
 * calendar is needed once for each period.
 */
export function periodsOf(column: CompiledColumn, period: Period): Segments {
  const isTime = column.type === 'timestamp'
  const hourOf = (index: number): number => {
    const value = column.values[index] as number | bigint
    return isTime ? floorHours(value) : (value as number) * DAY_HOURS
  }
  const endOf = (hour: number): number => {
    const key = isTime ? smallest(BigInt(hour) * HOUR_MICROSECONDS) : Math.ceil(hour / DAY_HOURS)
    return boundOf(column, key, false) - 1
  }
  const spans: number[] = []
  const isWeekday = period === 'weekday'
  return {
    labels: () => periodLabels(period, spans),
    next(index) {
      const hour = hourOf(index)
      if (period === 'hour') {
        spans.push(hour)
        return { group: spans.length, end: endOf(hour + 1) }
      }
      const day = Math.floor(hour / DAY_HOURS)
      const { from, to } = spanOf(period, day)
      if (!isWeekday) spans.push(from)
      return { group: isWeekday ? weekdayOf(day) : spans.length, end: endOf(to * DAY_HOURS) }
    },
  }
}

function periodLabels(period: Period, spans: readonly number[]): SegmentLabels {
  const isWeekday = period === 'weekday'
  return {
    type: TYPES[period],
    hasUnit: false,
    count: isWeekday ? 7 : spans.length,
    value: (group) => (isWeekday ? group : periodValue(period, spans[group - 1]!)),
  }
}

const TYPES: { [period in Period]: ResultColumn['type'] } = {
  year: 'integer',
  quarter: 'date',
  month: 'date',
  week: 'date',
  day: 'date',
  hour: 'timestamp',
  weekday: 'integer',
}

function floorHours(microseconds: number | bigint): number {
  if (typeof microseconds === 'number') return Math.floor(microseconds / Number(HOUR_MICROSECONDS))
  const hours = microseconds / HOUR_MICROSECONDS
  return Number(hours * HOUR_MICROSECONDS > microseconds ? hours - 1n : hours)
}

function smallest(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** In days. */
function spanOf(period: Exclude<Period, 'hour'>, day: number): Span {
  switch (period) {
    case 'day':
    case 'weekday':
      return { from: day, to: day + 1 }
    case 'week': {
      const monday = day - weekdayOf(day) + 1
      return { from: monday, to: monday + 7 }
    }
    case 'month':
      return monthsSpan(day, 1)
    case 'quarter':
      return monthsSpan(day, 3)
    case 'year':
      return monthsSpan(day, 12)
  }
}

function monthsSpan(day: number, length: number): Span {
  const first = Math.floor(monthOf(day) / length) * length
  return { from: firstDayOf(first), to: firstDayOf(first + length) }
}

/** 1 for Monday to 7 for Sunday; 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1
}

const CYCLE_DAYS = 146_097
const CYCLE_MONTHS = 4800
const DAY_MS = 86_400_000

// The calendar repeats after 400 years; inside one cycle, `Date` computes it.

/** The month of a day, counted from January 1970. */
function monthOf(day: number): number {
  const cycles = Math.floor(day / CYCLE_DAYS)
  const date = new Date((day - cycles * CYCLE_DAYS) * DAY_MS)
  return cycles * CYCLE_MONTHS + (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}

function firstDayOf(month: number): number {
  const cycles = Math.floor(month / CYCLE_MONTHS)
  return cycles * CYCLE_DAYS + Date.UTC(1970, month - cycles * CYCLE_MONTHS, 1) / DAY_MS
}

function periodValue(period: Period, from: number): ResultValue {
  if (period === 'year') return 1970 + monthOf(from) / 12
  return period === 'hour' ? timestampText(BigInt(from) * HOUR_MICROSECONDS) : dateText(from)
}
