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
  take(): Promise<() => void> {
    if (!this.#isTaken) return Promise.resolve(this.#begin())
    const { promise, resolve, reject } = Promise.withResolvers<() => void>()
    const timer = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      reject(new DatabaseError('database-unavailable', 'Writes to SQLite wait for a lock for too long.'))
    }, this.#timeoutMs)
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
