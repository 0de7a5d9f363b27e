import { setTimeout as delay } from 'node:timers/promises'

const PAUSE_MS = 2

/** The longest response time of `/health` in ms while something else runs: the stalls of the event loop. */
export async function longestWait({ origin }: { origin: string }, isRunning: () => boolean): Promise<number> {
  let longest = 0
  while (isRunning()) {
    const began = performance.now()
    await (await fetch(`${origin}/health`)).text()
    longest = Math.max(longest, performance.now() - began)
    await delay(PAUSE_MS)
  }
  return longest
}
