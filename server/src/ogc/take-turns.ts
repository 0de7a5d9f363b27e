import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long one request works before others have their turn. */
export const SLICE_MS = 8

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
