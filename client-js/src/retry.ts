import { APIStatusError, ConnectionError, TimeoutError } from './errors.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8000
const LONGEST_RETRY_AFTER_S = 60

/** How a client retries, by its own settings. */
export interface RetryPolicy {
  maxRetries: number
  /** From 0 to 1, for jitter. */
  random: () => number
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** False: only retried if the service has refused it, so that nothing is done twice. */
  isRepeatable?: boolean
}

/**
 * Retries until the attempt succeeds, the error is final, or no retries are left. Progress resets the count.
 */
export async function retrying<T>(
  { maxRetries, random, sleep, isRepeatable = true }: RetryPolicy,
  options: { maxRetries?: number; signal?: AbortSignal },
  attempt: () => Promise<T>,
  progressed: () => boolean = () => false,
): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (progressed()) failures = 0
      const isFinal = failures >= (options.maxRetries ?? maxRetries) || !(isRepeatable || isRefusal(error))
      const pause = isFinal ? undefined : pauseBeforeRetry(error, failures, random)
      if (pause === undefined) throw error
      await sleep(pause, options.signal)
    }
  }
}

/** Whether the service itself has refused a request: after other failures it may have performed it. */
function isRefusal(error: unknown): boolean {
  return error instanceof APIStatusError && [429, 503].includes(error.status)
}

/**
 * Milliseconds to wait before the next attempt, after `failures` failures; undefined if the error is final.
 */
export function pauseBeforeRetry(error: unknown, failures: number, random: () => number): number | undefined {
  // Jitter: half of the pause is random, so that clients that failed together do not retry together.
  const backoff = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures) * (0.5 + random() / 2)
  if (error instanceof ConnectionError || error instanceof TimeoutError) return backoff
  if (!(error instanceof APIStatusError) || ![429, 502, 503, 504].includes(error.status)) return undefined
  const { retryAfter } = error
  if (retryAfter === undefined) return backoff
  return retryAfter > LONGEST_RETRY_AFTER_S ? undefined : (retryAfter + random() / 4) * 1000
}

/** Seconds of a `Retry-After`, which may be a date (RFC 9110, 10.2.3). */
export function retryAfterSeconds(value: string | null, now: number): number | undefined {
  if (!value) return undefined
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
