import { SECOND } from '../../base/clock.ts'
import { TimeoutError, withinTime } from '../../base/concurrency/within-time.ts'

const EVERY = 5 * SECOND
const EVERY_AFTER_FAILURE = SECOND
/** How long a caller waits for a probe under way, in milliseconds. */
const WAIT = 500
/** A write may wait ten seconds for a lock that a command holds; beyond this it counts as a failure. */
const MAX_PENDING = 12 * SECOND

/**
 * Checks whether the database is writable, by a write every few seconds. A write that waits for a lock is not
 * yet a failure, and callers do not wait for it: they get the last outcome.
 */
export class WriteProbe {
  readonly #write: () => Promise<void>
  #failure: unknown = null
  #startedAt: number | null = null
  #finishedAt = Number.NEGATIVE_INFINITY
  #running: Promise<void> = Promise.resolve()

  constructor(write: () => Promise<void>) {
    this.#write = write
  }

  /** Rejects if the last write failed, or the current one takes too long. */
  async check(): Promise<void> {
    const now = performance.now()
    const every = this.#failure === null ? EVERY : EVERY_AFTER_FAILURE
    if (this.#startedAt === null && now - this.#finishedAt >= every) this.#running = this.#run(now)
    await withinTime(WAIT, this.#running).catch(ignoreTimeout)
    if (this.#startedAt !== null && now - this.#startedAt > MAX_PENDING)
      throw new TimeoutError('A write has not finished in time.')
    if (this.#failure !== null) throw this.#failure
  }

  async #run(now: number): Promise<void> {
    this.#startedAt = now
    try {
      await this.#write()
      this.#failure = null
    } catch (error) {
      this.#failure = error
    }
    this.#startedAt = null
    this.#finishedAt = performance.now()
  }
}

function ignoreTimeout(error: unknown): void {
  if (!(error instanceof TimeoutError)) throw error
}
