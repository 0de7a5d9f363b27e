import { setTimeout as sleep } from 'node:timers/promises'

export class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/** The work's own outcome, or a TimeoutError. The work goes on, and its outcome is then ignored. */
export async function withinTime<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const finished = new AbortController()
  work.catch(() => {})
  const timeout = sleep(milliseconds, undefined, { signal: finished.signal, ref: true }).then(
    () => {
      throw new TimeoutError(`It took longer than ${milliseconds} ms.`)
    },
    () => undefined as never,
  )
  timeout.catch(() => {})
  try {
    return await Promise.race([work, timeout])
  } finally {
    finished.abort()
  }
}
