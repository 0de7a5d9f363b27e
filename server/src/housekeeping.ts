import type { Logger } from 'pino'
import { DatabaseError } from './database/database-error.ts'

/** Work that nobody waits for: throwing away what is too old to matter. */
export class Housekeeping {
  readonly #log: Logger
  readonly #timers: NodeJS.Timeout[] = []
  readonly #running = new Map<string, Promise<void>>()
  #closed = false

  constructor(log: Logger) {
    this.#log = log
  }

  /** Runs the work now and then again and again, never twice at once. It must be harmless on many nodes. */
  add(name: string, everyMs: number, work: () => Promise<void>): void {
    this.#run(name, work)
    this.#timers.push(setInterval(() => this.#run(name, work), everyMs).unref())
  }

  /** Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closed = true
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#running.values())
  }

  #run(name: string, work: () => Promise<void>): void {
    if (this.#closed || this.#running.has(name)) return
    const run = work()
      .catch((error: unknown) => {
        // An outage of the database is logged elsewhere, and its stack says nothing.
        if (error instanceof DatabaseError) this.#log.warn(`Housekeeping failed: ${name}. ${error.message}`)
        else this.#log.warn({ err: error }, `Housekeeping failed: ${name}.`)
      })
      .finally(() => this.#running.delete(name))
    this.#running.set(name, run)
  }
}
