import type { Logger } from 'pino'
import { SECOND } from './clock.ts'
import { TimeoutError, withinTime } from './within-time.ts'

/** How long one part may take to close. */
const PART_DEADLINE = 10 * SECOND
/** How long all parts may take together. */
const TOTAL_DEADLINE = 15 * SECOND
/** What is left for each part once the total is used up. */
const LAST_CHANCE = 100

interface Closer {
  name: string
  close: () => unknown
}

/** Some parts did not close: the process must be ended from outside. */
class NotClosedError extends Error {
  override name = 'NotClosedError'
}

/**
 * Closes what was opened, in the opposite order, each with a deadline: a part that hangs, such as a database
 * that does not respond, must not keep the process from stopping.
 */
export class Closers {
  readonly #log: Logger
  readonly #closers: Closer[] = []
  #closing: Promise<void> | null = null

  constructor(log: Logger) {
    this.#log = log
  }

  defer(close: () => unknown, name = 'a part'): void {
    this.#closers.push({ name, close })
  }

  /** Rejects with a NotClosedError that names the parts which failed or hung. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    const end = performance.now() + TOTAL_DEADLINE
    const failed: string[] = []
    for (const { name, close } of this.#closers.reverse()) {
      const left = Math.min(PART_DEADLINE, Math.max(end - performance.now(), LAST_CHANCE))
      try {
        await withinTime(
          left,
          Promise.resolve().then(() => close()),
        )
      } catch (error) {
        failed.push(name)
        if (error instanceof TimeoutError) this.#log.error(`Stopping: ${name} did not close in time.`)
        else this.#log.error({ err: error }, `Stopping: ${name} failed to close.`)
      }
    }
    if (failed.length > 0) throw new NotClosedError(`Not closed: ${failed.join(', ')}.`)
  }
}
