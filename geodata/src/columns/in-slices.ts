import { setImmediate as nextIteration } from 'node:timers/promises'

/** The time slice, in ms, after which the event loop gets a turn. */
const SLICE_MS = 5
const STEP = 1 << 15

/** Ends when the work that asked last may continue: one slice of one caller runs in an iteration of the event loop. */
let lastTurn: Promise<void> = Promise.resolve()

/** Calls `work` with consecutive ranges up to `count`, and yields to the event loop after each time slice. */
export async function inSlices(count: number, work: (from: number, to: number) => void): Promise<void> {
  let end = performance.now() + SLICE_MS
  for (let from = 0; from < count; from += STEP) {
    work(from, Math.min(count, from + STEP))
    if (performance.now() < end) continue
    lastTurn = lastTurn.then(() => nextIteration())
    await lastTurn
    end = performance.now() + SLICE_MS
  }
}
