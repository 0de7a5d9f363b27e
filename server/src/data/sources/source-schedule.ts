import { SourceError } from '@wayleave/geodata/compile'
import { Cron } from 'croner'
import { DAY, HOUR, MINUTE, plus } from '../../base/clock.ts'

const UNITS: Record<string, number> = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY }
/** More often would be a load for the source and for this service. */
const MIN_INTERVAL = 5 * MINUTE
const MAX_INTERVAL = 366 * DAY
const FIRST_RETRY = 5 * MINUTE
const MAX_RETRY = 6 * HOUR

/** An hour of a cron expression has at most 60 runs, and a pause that is too short repeats in each of its hours. */
const CHECKED_RUNS = 61
/** Before the five fields, as in a crontab: the zone whose clock they mean. */
const TIME_ZONE = /^(?:CRON_)?TZ=(\S+)\s+/

/** Throws a SourceError unless it is an interval such as `6h` or a cron expression with five fields. */
export function requireSchedule(schedule: string, now: Date): void {
  let before = nextRun(schedule, now)
  for (let run = 1; run < CHECKED_RUNS; run++) {
    const next = nextRun(schedule, before)
    if (next.getTime() - before.getTime() < MIN_INTERVAL)
      throw new SourceError('A source is read every 5 minutes at most.')
    before = next
  }
}

/** When a source is due after a time. */
export function nextRun(schedule: string, after: Date): Date {
  const interval = /^(\d{1,5})([mhdw])$/.exec(schedule)
  if (interval) {
    const ms = Number(interval[1]) * UNITS[interval[2]!]!
    if (ms === 0 || ms > MAX_INTERVAL) throw new SourceError('An interval is between 5 minutes and a year.')
    return plus(after, ms)
  }
  const next = cronRun(schedule.trim(), after)
  if (!next)
    throw new SourceError(
      'Say how often as an interval (30m, 6h, 1d, 1w) or as a cron expression in UTC, such as "15 3 * * *", or in a time zone, such as "CRON_TZ=Europe/Vienna 15 3 * * *".',
    )
  return next
}

/**
 * After a failure it is tried again sooner than it is due, after growing pauses. Null for a source that is only run by
 * hand.
 */
export function nextAttempt(schedule: string | null, failures: number, now: Date): Date | null {
  if (schedule === null) return null
  const pause = Math.min(MAX_RETRY, FIRST_RETRY * 2 ** Math.min(failures - 1, 20))
  return new Date(Math.min(plus(now, pause).getTime(), nextRun(schedule, now).getTime()))
}

/** Null if it is no cron expression with five fields, or has no next run. */
function cronRun(schedule: string, after: Date): Date | null {
  const timezone = TIME_ZONE.exec(schedule)?.[1] ?? 'UTC'
  const fields = schedule.replace(TIME_ZONE, '')
  if (fields.split(/\s+/).length !== 5) return null
  try {
    return new Cron(fields, { timezone, paused: true }).nextRun(after)
  } catch {
    return null
  }
}
