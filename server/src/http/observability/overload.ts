import { type EventLoopUtilization, performance } from 'node:perf_hooks'

const SAMPLE_MS = 250

/**
 * Decides when to shed load. A timer that fires late measures the event loop delay; two late samples in a row
 * are needed, so that a single pause (a long garbage collection) does not reject requests.
 */
export class Overload {
  /** Requests that were rejected because of overload, here or in a part's queue. */
  refusals = 0
  readonly #limit: number
  readonly #timer: NodeJS.Timeout
  #expected = performance.now() + SAMPLE_MS
  #utilization: EventLoopUtilization = performance.eventLoopUtilization()
  #late = 0
  #draining = false
  #stopping = false

  constructor(maxDelayMs: number) {
    this.#limit = maxDelayMs
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS).unref()
  }

  isOverloaded(): boolean {
    return this.#late >= 2
  }

  /** Whether the server is about to stop: requests are still served, with `Connection: close`. */
  isDraining(): boolean {
    return this.#draining
  }

  drain(): void {
    this.#draining = true
  }

  isStopping(): boolean {
    return this.#stopping
  }

  stop(): void {
    this.#draining = true
    this.#stopping = true
    clearInterval(this.#timer)
  }

  #sample(): void {
    const now = performance.now()
    const since = performance.eventLoopUtilization(this.#utilization)
    this.#utilization = performance.eventLoopUtilization()
    // After a machine was suspended, the timer is late but the loop was idle: that is not an overload.
    const busy = since.utilization > 0.5
    this.#late = busy && now - this.#expected > this.#limit ? this.#late + 1 : 0
    this.#expected = now + SAMPLE_MS
  }
}
