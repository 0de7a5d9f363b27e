import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

const THREAD = new URL('./longest-wait-thread.ts', import.meta.url)
const IDLE_MS = 3000

/**
 * The longest response time of `/health` in ms while `work` runs: the stalls of the event loop. It is measured in
 * a thread of its own, so that what this one does is not counted.
 */
export async function longestWait(
  { origin }: { origin: string },
  work: () => Promise<unknown>,
): Promise<number> {
  const thread = new Worker(THREAD, { workerData: origin })
  try {
    await once(thread, 'message')
    await work()
    const reply = once(thread, 'message') as Promise<[number]>
    thread.postMessage('stop')
    return (await reply)[0]
  } finally {
    await thread.terminate()
  }
}

/** The same of a server with nothing else to do: what the machine and the measurement add. */
export function idleWait(server: { origin: string }): Promise<number> {
  return longestWait(server, () => delay(IDLE_MS))
}
