import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one request works before others have their turn. */
export const SLICE_MS = 5

/** The slices of one request's work; it ends where nobody waits for it any more. */
export class Turns {
  readonly #signal: AbortSignal | null
  #end = performance.now() + SLICE_MS

  constructor(signal: AbortSignal | null = null) {
    this.#signal = signal
  }

  /** Where the slice is over, others are served first. */
  async next(): Promise<void> {
    if (performance.now() < this.#end) return
    await nextTurn()
    this.#signal?.throwIfAborted()
    this.#end = performance.now() + SLICE_MS
  }
}

/** Calls `work` for each number below `count`, in slices between which others are served. */
export async function takeTurns(count: number, work: (i: number) => void): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS
  for (let i = 0; i < count; i++) {
    work(i)
    if ((i & 15) !== 15 || performance.now() < sliceEnd) continue
    await nextTurn()
    sliceEnd = performance.now() + SLICE_MS
  }
}
