/** The time slice, in ms, after which work on the event loop yields to other requests. */
const SLICE_MS = 5
/** What each request may use at least, in ms. Most pages need less; waiting for a turn would cost them more. */
const MIN_MS = 0.5

/**
 * The event loop's time for work that takes longer than a time slice. In one iteration of the loop one slice of
 * one request runs, and everything that arrived meanwhile is served before the next slice. Owners take turns,
 * and so do the requests of one owner.
 */
class TimeSlices {
  /** Owners in the order of their turns, with the requests that wait for a slice. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false
  /** The end of the slice of this iteration of the loop; 0 if none has begun. */
  #end = 0

  /**
   * When work that begins or continues now has to yield. All work in one iteration of the loop shares a slice: a
   * page of the explorer sends its requests at once, and a slice for each of them would be a long stall.
   */
  sliceEnd(): number {
    const now = performance.now()
    if (this.#end === 0) {
      this.#end = now + SLICE_MS
      this.#schedule()
    }
    return Math.max(this.#end, now + MIN_MS)
  }

  /** Whether the slice of this iteration is over. Begins one if there is none. */
  get isUsedUp(): boolean {
    this.sliceEnd()
    return performance.now() >= this.#end
  }

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
    this.#end = 0
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
