/** Max requests in a time window, and max requests at once. */
export interface Rate {
  requests: number
  burst: number
  /** 60 if omitted. */
  windowSeconds?: number
}

export interface Decision {
  allowed: boolean
  /** How many more requests would be allowed now. */
  remaining: number
  /** Seconds until the whole burst is available again. */
  reset: number
  /** Seconds until the next request is allowed; 0 if it is allowed now. */
  retryAfter: number
}

/** Counts requests in named buckets: in this process, or in Redis for all nodes together. */
export interface Limiter {
  /** Whether requests are counted in this process, so that decisions are synchronous. */
  readonly isLocal: boolean
  take(bucket: string, rate: Rate): Decision | Promise<Decision>
  /** What `take` would return, without counting. */
  peek(bucket: string, rate: Rate): Decision | Promise<Decision>
  close(): Promise<void>
}

/**
 * The generic cell rate algorithm (GCRA): a bucket is one number, the time at which it would be full again.
 * It admits a burst and then a steady rate, has no window boundary at which twice the rate is admitted, and
 * needs no timer.
 */
export function decide(fullAgainAt: number, now: number, rate: Rate): { decision: Decision; next: number } {
  const interval = ((rate.windowSeconds ?? 60) * 1000) / rate.requests
  const room = interval * rate.burst
  const base = Math.max(fullAgainAt, now)
  const next = base + interval
  const allowed = next - now <= room + 1e-6
  const reached = allowed ? next : base
  return {
    next: reached,
    decision: {
      allowed,
      remaining: Math.max(0, Math.floor((room - (reached - now)) / interval + 1e-9)),
      reset: Math.ceil((reached - now) / 1000),
      retryAfter: allowed ? 0 : Math.max(1, Math.ceil((next - now - room) / 1000)),
    },
  }
}

/** The headers `RateLimit-Policy` and `RateLimit`, as structured fields. */
export function rateLimitHeaders(
  name: string,
  rate: Rate,
  decision: Decision,
): [policy: string, state: string] {
  return [
    `"${name}";q=${rate.requests};w=${rate.windowSeconds ?? 60}`,
    `"${name}";r=${decision.remaining};t=${decision.reset}`,
  ]
}
