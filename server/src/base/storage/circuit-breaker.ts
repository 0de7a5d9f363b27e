/** After this many failed attempts in a row the store counts as unreachable. */
const MAX_FAILURES = 3
/** How often an unreachable store is tried again, in ms. */
const PROBE_EVERY = 1000

/**
 * While a store is unreachable, calls fail at once instead of after a timeout, so that requests for data that is
 * not cached do not pile up. One attempt per second finds out when the store is back.
 */
export class CircuitBreaker {
  readonly #now: () => number
  #failures = 0
  #lastProbe = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get isOpen(): boolean {
    return this.#failures >= MAX_FAILURES
  }

  /** Whether an attempt may be made now. */
  allows(): boolean {
    if (!this.isOpen) return true
    if (this.#now() - this.#lastProbe < PROBE_EVERY) return false
    this.#lastProbe = this.#now()
    return true
  }

  succeeded(): void {
    this.#failures = 0
  }

  failed(): void {
    this.#failures++
    if (this.#failures === MAX_FAILURES) this.#lastProbe = this.#now()
  }
}
