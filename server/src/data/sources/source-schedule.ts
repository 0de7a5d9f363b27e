import { SourceError } from '@wayleave/geodata/compile'
import { Cron } from 'croner'
import { DAY, HOUR, MINUTE, plus } from '../../base/clock.ts'

const UNITS: Record<string, number> = { m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY }
/** More often would be a load for the source and for this service. */
const MIN_INTERVAL = 5 * MINUTE
const MAX_INTERVAL = 366 * DAY
const FIRST_RETRY = 5 * MINUTE
const MAX_RETRY = 6 * HOUR

/** Throws a SourceError unless it is an interval such as `6h` or a cron expression with five fields. */
export function requireSchedule(schedule: string): void {
  const at = new Date()
  const first = nextRun(schedule, at)
  const interval = nextRun(schedule, first).getTime() - first.getTime()
  if (interval < MIN_INTERVAL) throw new SourceError('A source is read every 5 minutes at most.')
}

/** When a source is due after a time, in UTC. */
export function nextRun(schedule: string, after: Date): Date {
  const interval = /^(\d{1,5})([mhdw])$/.exec(schedule)
  if (interval) {
    const ms = Number(interval[1]) * UNITS[interval[2]!]!
    if (ms === 0 || ms > MAX_INTERVAL) throw new SourceError('An interval is between 5 minutes and a year.')
    return plus(after, ms)
  }
  const next = schedule.trim().split(/\s+/).length === 5 ? cronRun(schedule, after) : null
  if (!next)
    throw new SourceError(
      'Say how often as an interval (30m, 6h, 1d, 1w) or as a cron expression in UTC, such as "15 3 * * *".',
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

function cronRun(schedule: string, after: Date): Date | null {
  try {
    return new Cron(schedule, { timezone: 'UTC', paused: true }).nextRun(after)
  } catch {
    return null
  }
}
