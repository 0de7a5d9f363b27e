export class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/** The work's own outcome, or a TimeoutError. The work goes on, and its outcome is then ignored. */
export async function withinTime<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new TimeoutError(`It took longer than ${milliseconds} ms.`)),
    milliseconds,
  )
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
