import { timeSlices } from '@wayleave/geodata/features'
import { QueryError } from '../query-error.ts'

export interface TimedWorkOptions {
  /** The user or organization for whom it is done; owners take turns. */
  owner: string
  /** Returns the signal that aborts when the client has disconnected; called only if the work takes longer. */
  disconnected?: () => AbortSignal
  /** Max duration, in ms. */
  maxMs: number
  /** What is thrown when the time is over. */
  late?: () => unknown
}

/**
 * The work of one request that may take long: for whom it is done, and when it has to end. Every way to evaluate
 * a filter (compiled columns, the tree, the interpreter, the database) gets it, so that the same limit holds for
 * all of them. On the event loop it runs in time slices.
 */
export class TimedWork {
  readonly owner: string
  readonly #options: TimedWorkOptions
  readonly #deadline: number
  #sliceEnd = timeSlices.sliceEnd()
  #controller: AbortController | null = null
  #client: AbortSignal | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(options: TimedWorkOptions) {
    this.#options = options
    this.owner = options.owner
    this.#deadline = performance.now() + options.maxMs
  }

  /** Aborts when the client has disconnected or the time is over; the reason is what to throw. */
  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    const controller = new AbortController()
    this.#controller = controller
    const client = this.#clientSignal()
    if (client?.aborted) controller.abort(client.reason)
    client?.addEventListener('abort', () => controller.abort(client.reason), { once: true })
    const rest = Math.max(0, this.#deadline - performance.now())
    this.#timer = setTimeout(() => controller.abort(this.#lateReason()), rest).unref()
    return controller.signal
  }

  /** Whether the time is over. */
  get isLate(): boolean {
    return performance.now() >= this.#deadline
  }

  /** Throws if the client has disconnected or the time is over. */
  check(): void {
    this.#clientSignal()?.throwIfAborted()
    if (this.isLate) throw this.#lateReason()
  }

  /** Yields to other requests if the time slice is used up. Throws like `check`. */
  async next(): Promise<void> {
    if (performance.now() >= this.#sliceEnd) await this.pause()
  }

  /** Yields to other requests and returns the end of the next time slice. Throws like `check`. */
  async pause(): Promise<number> {
    this.check()
    await timeSlices.next(this.owner)
    this.check()
    this.#sliceEnd = timeSlices.sliceEnd()
    return this.#sliceEnd
  }

  /**
   * Calls `step` for each number below `count`, in time slices, until the time `until`. Returns the number of
   * calls: at least one if the count is not zero. Throws if the client has disconnected, but not when the time of
   * the whole work is over, because what was done can be used.
   */
  async each(count: number, step: (i: number) => void, until = Infinity): Promise<number> {
    for (let i = 0; i < count; i++) {
      step(i)
      const now = performance.now()
      if (now >= until) return i + 1
      if (now < this.#sliceEnd) continue
      this.#clientSignal()?.throwIfAborted()
      await timeSlices.next(this.owner)
      this.#clientSignal()?.throwIfAborted()
      this.#sliceEnd = timeSlices.sliceEnd()
    }
    return count
  }

  /**
   * Calls `step` for the numbers below `count`, at most `size` of them at a time, in time slices: a call should take
   * about a millisecond. Throws like `check`.
   */
  async inSteps(count: number, size: number, step: (from: number, to: number) => void): Promise<void> {
    await this.each(Math.ceil(count / size), (i) => step(i * size, Math.min(count, (i + 1) * size)))
    this.check()
  }

  /** A part of the work that may take at most `maxMs`, and throws `late` if it takes longer. */
  part(maxMs: number, late: unknown): TimedWork {
    const rest = this.#deadline - performance.now()
    const disconnected = () => this.signal
    return new TimedWork({ owner: this.owner, disconnected, maxMs: Math.min(maxMs, rest), late: () => late })
  }

  /** Releases the timer. Call it when the work has ended. */
  end(): void {
    clearTimeout(this.#timer)
  }

  #clientSignal(): AbortSignal | null {
    this.#client ??= this.#options.disconnected?.() ?? null
    return this.#client
  }

  #lateReason(): unknown {
    return this.#options.late?.() ?? tooLong(this.#options.maxMs)
  }
}

function tooLong(maxMs: number): QueryError {
  return new QueryError(
    'invalid-filter',
    `The query takes longer than ${maxMs / 1000} seconds on this collection. Ask for less in one filter, or in a box.`,
    { limit: 'query-time' },
  )
}
