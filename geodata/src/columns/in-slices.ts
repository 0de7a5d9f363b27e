import { setImmediate as nextTurn } from 'node:timers/promises'

/** The time slice, in ms, after which the event loop gets a turn. */
const SLICE_MS = 5
const STEP = 1 << 15

/** Calls `work` with consecutive ranges up to `count`, and yields to the event loop after each time slice. */
export async function inSlices(count: number, work: (from: number, to: number) => void): Promise<void> {
  let end = performance.now() + SLICE_MS
  for (let from = 0; from < count; from += STEP) {
    work(from, Math.min(count, from + STEP))
    if (performance.now() < end) continue
    await nextTurn()
    end = performance.now() + SLICE_MS
  }
}
