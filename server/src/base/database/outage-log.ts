import type { Logger } from 'pino'
import { SECOND } from '../clock.ts'
import type { DatabaseError } from './database-error.ts'

const INTERVAL = SECOND

/**
 * While the database is unavailable, every request fails for the same reason. The first failure is logged at
 * once; further ones as one line per second with their count, without a stack trace.
 */
export class OutageLog {
  readonly #log: Logger
  #count = 0
  #last: DatabaseError | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(log: Logger) {
    this.#log = log
  }

  note(error: DatabaseError): void {
    this.#count++
    this.#last = error
    if (this.#timer === null) this.#write()
  }

  #write(): void {
    this.#log.error({ failure: this.#last!.failure, requests: this.#count }, this.#last!.message)
    this.#count = 0
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#count > 0) this.#write()
    }, INTERVAL).unref()
  }
}
