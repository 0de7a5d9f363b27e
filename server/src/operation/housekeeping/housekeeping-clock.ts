import type { Logger } from 'pino'
import { type Clock, DAY, HOUR, plus, SECOND } from '../../base/clock.ts'
import { readDatabaseClock, readSeenAt, writeSeenAt } from '../../base/database/heartbeat-store.ts'
import type { ControlDatabase } from '../../base/database/open.ts'

/** A jump up to this is accepted: whatever is deleted by age is kept this much longer than it is valid. */
const MAX_JUMP = DAY
/** A clock that has jumped is accepted after it has been consistent for this long. */
const HOLD = 24 * HOUR

/** This machine's clock is not usable: the server does not start. */
class ClockError extends Error {
  override name = 'ClockError'
}

export interface HousekeepingClockOptions {
  database: ControlDatabase
  clock: Clock
  log: Logger
  /** Max difference between this machine's clock and the database's, or the last run's, in seconds. */
  maxSkew: number
  /** Accept the clock whatever time was recorded before. */
  accept: boolean
  /** A monotonic clock in milliseconds; tests pass their own. */
  uptime?: () => number
}

/**
 * The time used to delete old rows. It comes from PostgreSQL's clock, or on SQLite from this machine's. A
 * clock that is suddenly more than a day ahead may be wrong, or the installation may have been stopped for
 * that long. The two cannot be told apart, so this clock then continues from the last time it accepted, and
 * follows the jump only after it has lasted for a day.
 */
export class HousekeepingClock {
  readonly #options: HousekeepingClockOptions
  readonly #uptime: () => number
  /** The last accepted time, and the uptime at that moment. */
  #believed: { at: Date; uptime: number } | null = null
  #heldSince: number | null = null
  /** What `now` returned last, and the uptime at that moment. */
  #latest: { at: Date; uptime: number } | null = null

  constructor(options: HousekeepingClockOptions) {
    this.#options = options
    this.#uptime = options.uptime ?? (() => performance.now())
  }

  /** Throws a ClockError if the machine's clock is too far off to serve. */
  async start(): Promise<void> {
    const { database, clock, log, maxSkew, accept } = this.#options
    const seenAt = await readSeenAt(database.db)
    const databaseClock = await readDatabaseClock(database)
    const machine = clock()
    const skew = databaseClock ? machine.getTime() - databaseClock.getTime() : 0
    const behind = seenAt ? seenAt.getTime() - (databaseClock ?? machine).getTime() : 0
    if (accept) {
      await writeSeenAt(database.db, databaseClock ?? machine, { force: true })
      return
    }
    if (Math.abs(skew) > maxSkew * SECOND)
      throw new ClockError(
        `The clock of this machine says ${machine.toISOString()}, and that of PostgreSQL ${databaseClock!.toISOString()}. Set the clocks right, or raise WAYLEAVE_MAX_CLOCK_SKEW (${maxSkew} seconds).`,
      )
    if (behind > maxSkew * SECOND)
      throw new ClockError(
        `The clock says ${(databaseClock ?? machine).toISOString()}, but this installation ran at ${seenAt!.toISOString()} already. Set the clock right. If that earlier time was wrong, start once with WAYLEAVE_ACCEPT_CLOCK=true.`,
      )
    if (seenAt) this.#believed = { at: seenAt, uptime: this.#uptime() }
    await this.now()
    if (this.#heldSince !== null)
      log.warn(
        `The clock is ${Math.round(-behind / HOUR)} hours past the last time that this installation ran. If it was stopped for so long, ignore this; housekeeping resumes in a day. If the clock is wrong, set it right and restart. WAYLEAVE_ACCEPT_CLOCK=true accepts it at once.`,
      )
  }

  /** Also records the time in the database, so that the next start can compare. */
  async now(): Promise<Date> {
    const { database, clock } = this.#options
    const at = this.#believe((await readDatabaseClock(database)) ?? clock())
    await writeSeenAt(database.db, at)
    this.#latest = { at, uptime: this.#uptime() }
    return at
  }

  /** The time of the last call of `now` if that was less than a second ago: a start runs a dozen tasks in a row. */
  async recent(): Promise<Date> {
    const latest = this.#latest
    return latest && this.#uptime() - latest.uptime < SECOND ? latest.at : this.now()
  }

  /** Whether the clock jumped ahead and is not accepted yet. */
  get held(): boolean {
    return this.#heldSince !== null
  }

  #believe(claimed: Date): Date {
    const uptime = this.#uptime()
    const last = this.#believed
    const expected = last ? plus(last.at, uptime - last.uptime) : claimed
    if (claimed.getTime() - expected.getTime() <= MAX_JUMP) this.#heldSince = null
    else {
      this.#heldSince ??= uptime
      if (uptime - this.#heldSince < HOLD) return expected
      this.#options.log.warn('The clock has been ahead for a day, and is believed from now on.')
      this.#heldSince = null
    }
    this.#believed = { at: claimed, uptime }
    return claimed
  }
}
