import { JOB_KINDS, type JobKind } from './job-kinds.ts'

/** The place of one running job. */
export interface JobPlace {
  /**
   * Runs work that waits for others most of the time, such as a download, without occupying the place: another job
   * may begin meanwhile. Then waits for a place again. If too many jobs do so already, the job keeps its place.
   */
  beside<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>
  leave(): void
}

/** How many jobs of each kind run at the same time in this process. */
export class JobPlaces {
  readonly #limits: Record<JobKind, number>
  readonly #maxBeside: number
  /** Called when a place has become free. */
  readonly #onFree: () => void
  readonly #taken = Object.fromEntries(JOB_KINDS.map((kind) => [kind, 0])) as Record<JobKind, number>
  readonly #waiting = Object.fromEntries(JOB_KINDS.map((kind) => [kind, new Set()])) as Record<
    JobKind,
    Set<() => void>
  >
  #beside = 0

  constructor(limits: Record<JobKind, number>, maxBeside: number, onFree: () => void) {
    this.#limits = limits
    this.#maxBeside = maxBeside
    this.#onFree = onFree
  }

  kindsWithPlaces(): JobKind[] {
    return JOB_KINDS.filter((kind) => this.#taken[kind] < this.#limits[kind])
  }

  take(kind: JobKind): JobPlace {
    this.#taken[kind]++
    let isTaken = true
    const leave = () => {
      if (isTaken) this.#leave(kind)
      isTaken = false
    }
    const beside = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
      if (this.#beside >= this.#maxBeside) return work()
      this.#beside++
      leave()
      try {
        const result = await work()
        await this.#wait(kind, signal)
        isTaken = true
        return result
      } finally {
        this.#beside--
      }
    }
    return { beside, leave }
  }

  /** The job that has waited longest for its place gets it; otherwise another may begin. */
  #leave(kind: JobKind): void {
    const [next] = this.#waiting[kind]
    if (next) {
      this.#waiting[kind].delete(next)
      next()
      return
    }
    this.#taken[kind]--
    this.#onFree()
  }

  async #wait(kind: JobKind, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#taken[kind] < this.#limits[kind]) {
      this.#taken[kind]++
      return
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = () => reject(signal.reason)
    this.#waiting[kind].add(resolve)
    signal.addEventListener('abort', abort, { once: true })
    const forget = () => {
      this.#waiting[kind].delete(resolve)
      signal.removeEventListener('abort', abort)
    }
    await promise.finally(forget)
  }
}
