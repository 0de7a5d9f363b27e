import { setTimeout as sleep } from 'node:timers/promises'
import { MINUTE } from '../base/clock.ts'

/** No machine is so busy: this ends waits for what never happens. */
const MAX_MS = 10 * MINUTE
const LOOK_EVERY_MS = 10

/** Polls until a look finds something, and returns it. `what` says what the test waits for. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
): Promise<Exclude<T, false | null | undefined>> {
  for (const end = performance.now() + MAX_MS; performance.now() < end; await sleep(LOOK_EVERY_MS)) {
    const found = await look()
    if (found !== false && found !== null && found !== undefined)
      return found as Exclude<T, false | null | undefined>
  }
  throw new Error(`Waited in vain for ${what}.`)
}
