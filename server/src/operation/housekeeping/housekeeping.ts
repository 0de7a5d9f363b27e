import type { Logger } from 'pino'
import { DatabaseError } from '../../base/database/database-error.ts'

/** Background work: deleting what is too old to be needed. */
export class Housekeeping {
  readonly #log: Logger
  readonly #timers: NodeJS.Timeout[] = []
  readonly #running = new Map<string, Promise<void>>()
  /** Ends with the work that was queued last. */
  #queue: Promise<void> = Promise.resolve()
  #closed = false

  constructor(log: Logger) {
    this.#log = log
  }

  /** Runs the work now and then periodically, without overlap. It must be safe to run on many nodes. */
  add(name: string, everyMs: number, work: () => Promise<void>): void {
    this.#run(name, work)
    this.#timers.push(setInterval(() => this.#run(name, work), everyMs).unref())
  }

  /**
   * Like `add`, for work that can wait: one such piece of work runs at a time. A start would otherwise use a dozen
   * connections to the database at once.
   */
  addQueued(name: string, everyMs: number, work: () => Promise<void>): void {
    this.add(name, everyMs, () => {
      const run = this.#queue.then(() => (this.#closed ? undefined : work()))
      this.#queue = run.catch(() => {})
      return run
    })
  }

  /** Runs work that was added once more, unless it is running. */
  runSoon(name: string, work: () => Promise<void>): void {
    this.#run(name, work)
  }

  /** Resolves when everything that was due has run. */
  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Resolves when nothing is running any more. What is queued does not start. */
  async close(): Promise<void> {
    this.#closed = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#running.values())
  }

  #run(name: string, work: () => Promise<void>): void {
    if (this.#closed || this.#running.has(name)) return
    const run = work()
      .catch((error: unknown) => {
        // A database outage is logged elsewhere, and its stack trace is of no use.
        if (error instanceof DatabaseError) this.#log.warn(`Housekeeping failed: ${name}. ${error.message}`)
        else this.#log.warn({ err: error }, `Housekeeping failed: ${name}.`)
      })
      .finally(() => this.#running.delete(name))
    this.#running.set(name, run)
  }
}
