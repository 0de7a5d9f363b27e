export class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/**
 * Resolves or rejects like `work`, or rejects with a TimeoutError. The work is not cancelled; its outcome is
 * then ignored.
 */
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
