import { DatabaseError } from './database-error.ts'

interface Waiter {
  start: (end: () => void) => void
  timer: NodeJS.Timeout
}

/** A FIFO mutex with a timeout for waiters. */
export class Mutex {
  readonly #timeoutMs: number
  readonly #waiting: Waiter[] = []
  #isTaken = false

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** Resolves to the function that releases the mutex. */
  async take(): Promise<() => void> {
    const end = await this.takeWithin(this.#timeoutMs)
    if (end !== null) return end
    throw new DatabaseError('database-unavailable', 'Writes to SQLite wait for a lock for too long.')
  }

  /** The same; null if the mutex was not free within so many milliseconds. */
  takeWithin(milliseconds: number): Promise<(() => void) | null> {
    if (!this.#isTaken) return Promise.resolve(this.#begin())
    const { promise, resolve } = Promise.withResolvers<(() => void) | null>()
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      resolve(null)
    }, milliseconds)
    const waiter: Waiter = { start: resolve, timer }
    this.#waiting.push(waiter)
    return promise
  }

  #begin(): () => void {
    this.#isTaken = true
    let ended = false
    return () => {
      if (ended) return
      ended = true
      this.#isTaken = false
      const next = this.#waiting.shift()
      if (!next) return
      clearTimeout(next.timer)
      next.start(this.#begin())
    }
  }
}
