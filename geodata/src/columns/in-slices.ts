import { timeSlices } from '../time-slices.ts'

const STEP = 1 << 15
/** All columns that are being loaded share the turns of one owner. */
const OWNER = 'columns'

/** Calls `work` with consecutive ranges up to `count`. Between them it waits for the process's next time slice. */
export async function inSlices(count: number, work: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < count; from += STEP) {
    if (timeSlices.isUsedUp) await timeSlices.next(OWNER)
    work(from, Math.min(count, from + STEP))
  }
}
