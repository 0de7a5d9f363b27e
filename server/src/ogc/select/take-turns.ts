import { setImmediate as nextTurn } from 'node:timers/promises'

/** The time slice, in ms, after which a request yields to others. */
export const SLICE_MS = 5

/**
 * The time slices of one request's work. `next` throws once the signal is aborted, because the client has
 * disconnected.
 */
export class Turns {
  readonly #signal: AbortSignal | null
  #end = performance.now() + SLICE_MS

  constructor(signal: AbortSignal | null = null) {
    this.#signal = signal
  }

  /** Yields to the event loop if the time slice is used up. */
  async next(): Promise<void> {
    if (performance.now() < this.#end) return
    await nextTurn()
    this.#signal?.throwIfAborted()
    this.#end = performance.now() + SLICE_MS
  }
}

/** Calls `work` for each number below `count`, and yields to the event loop after each time slice. */
export async function takeTurns(count: number, work: (i: number) => void): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS
  for (let i = 0; i < count; i++) {
    work(i)
    if ((i & 15) !== 15 || performance.now() < sliceEnd) continue
    await nextTurn()
    sliceEnd = performance.now() + SLICE_MS
  }
}
