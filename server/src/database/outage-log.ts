import type { Logger } from 'pino'
import { SECOND } from '../clock.ts'
import type { DatabaseError } from './database-error.ts'

const INTERVAL = SECOND

/**
 * While the database is away, every request fails for the same reason. The first failure is logged at once and
 * the others as one line a second with their number, without a stack.
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
