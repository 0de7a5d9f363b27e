/** The time slice, in ms, after which work on the event loop yields to other requests. */
export const SLICE_MS = 5

/**
 * The event loop's time for work that takes longer than a time slice. In one iteration of the loop one slice of
 * one request runs, and everything that arrived meanwhile is served before the next slice. Owners take turns,
 * and so do the requests of one owner.
 */
class TimeSlices {
  /** Owners in the order of their turns, with the requests that wait for a slice. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false

  /** Resolves when the caller may run for one time slice. */
  next(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(owner)
      if (waiting) waiting.push(resolve)
      else this.#waiting.set(owner, [resolve])
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    this.#isScheduled = false
    for (const [owner, waiting] of this.#waiting) {
      const start = waiting.shift()!
      // The owner's next turn comes after those of all others.
      this.#waiting.delete(owner)
      if (waiting.length > 0) this.#waiting.set(owner, waiting)
      start()
      break
    }
    if (this.#waiting.size > 0) this.#schedule()
  }
}

/** One instance, because a process has one event loop. */
export const timeSlices = new TimeSlices()
