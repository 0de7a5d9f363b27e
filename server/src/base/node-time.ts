import { setTimeout as sleep } from 'node:timers/promises'

/** The monotonic clock and the timers of a process. Simulations of several nodes replace them. */
export interface NodeTime {
  /** In milliseconds; never goes back. */
  now(): number
  /** Rejects when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** Calls `work` again and again, without keeping the process alive. Returns the function that stops it. */
  every(milliseconds: number, work: () => void): () => void
}

export const systemTime: NodeTime = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
  every(milliseconds, work) {
    const timer = setInterval(work, milliseconds).unref()
    return () => clearInterval(timer)
  },
}
