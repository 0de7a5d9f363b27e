import type { Logger } from 'pino'
import { SECOND } from '../clock.ts'
import type { Problem } from '../problem.ts'

const INTERVAL = SECOND

/**
 * While the database or the object store is unavailable, every request fails for the same reason. The first failure is logged at
 * once; further ones as one line per second with their count, without a stack trace.
 */
export class OutageLog {
  readonly #log: Logger
  #count = 0
  #last: Problem | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(log: Logger) {
    this.#log = log
  }

  note(problem: Problem): void {
    this.#count++
    this.#last = problem
    if (this.#timer === null) this.#write()
  }

  #write(): void {
    const { code, cause } = this.#last!
    this.#log.error({ failure: code, requests: this.#count }, (cause as Error).message)
    this.#count = 0
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#count > 0) this.#write()
    }, INTERVAL).unref()
  }
}
