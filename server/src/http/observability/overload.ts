import { type EventLoopUtilization, performance } from 'node:perf_hooks'

const SAMPLE_MS = 250

/**
 * Says when to refuse work. A late timer is the event loop's delay itself, so one timer measures it; two late
 * samples in a row are needed, so that a single pause (a large collection of garbage) refuses nobody.
 */
export class Overload {
  /** Requests that were refused because there was too much to do, here or in a queue of a part. */
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

  /** Whether the server is about to stop: requests are served, and clients are told to go elsewhere for the next. */
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
    // A machine that was asleep wakes with a late timer and an idle loop: that is no overload.
    const busy = since.utilization > 0.5
    this.#late = busy && now - this.#expected > this.#limit ? this.#late + 1 : 0
    this.#expected = now + SAMPLE_MS
  }
}
