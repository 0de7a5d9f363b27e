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

/** A token bucket, by its name, and its rate. */
export interface Bucket {
  name: string
  rate: Rate
}

/** The stricter decision of two buckets, and which of them made it. */
export interface JointDecision {
  decision: Decision
  bucket: Bucket
}

/** Counts requests in named buckets: in this process, or in Redis for all nodes together. */
export interface Limiter {
  take(bucket: string, rate: Rate): Decision | Promise<Decision>
  /** Takes from both buckets, or from neither if one of them is empty. With Redis, in one round trip. */
  takeBoth(first: Bucket, second: Bucket): JointDecision | Promise<JointDecision>
  /**
   * Takes tokens for what an admitted request has cost beyond one of them. The bucket gets no emptier than empty.
   * With Redis, the next request of this node for the bucket brings them there.
   */
  charge(bucket: Bucket, tokens: number): void
  /** What `take` would return, without counting. */
  peek(bucket: string, rate: Rate): Decision | Promise<Decision>
  close(): Promise<void>
}

/** How far one request moves a bucket, in whole microseconds. Rounded up, so that no rate is exceeded. */
export function intervalOf(rate: Rate): number {
  return Math.ceil(((rate.windowSeconds ?? 60) * 1e6) / rate.requests)
}

/**
 * The generic cell rate algorithm (GCRA): a bucket is one number, the time at which it would be full again.
 * It admits a burst and then a steady rate, has no window boundary at which twice the rate is admitted, and
 * needs no timer. Times are whole microseconds: a double holds those since 1970 exactly, so that the sums of a
 * burst have no rounding error, which would refuse its last request. A bucket is never emptier than empty: if the
 * clock was set back, requests continue at the steady rate instead of waiting until the clock has caught up.
 */
export function decide(fullAgainAt: number, now: number, rate: Rate): { decision: Decision; next: number } {
  const interval = intervalOf(rate)
  const room = interval * rate.burst
  const base = Math.min(Math.max(fullAgainAt, now), now + room)
  const next = base + interval
  const allowed = next - now <= room
  const reached = allowed ? next : base
  return {
    next: reached,
    decision: {
      allowed,
      remaining: Math.max(0, Math.floor((room - (reached - now)) / interval)),
      reset: Math.ceil((reached - now) / 1e6),
      retryAfter: allowed ? 0 : Math.max(1, Math.ceil((next - now - room) / 1e6)),
    },
  }
}

/** When a bucket is full again after more tokens are taken from it. */
export function charged(fullAgainAt: number, now: number, rate: Rate, tokens: number): number {
  return Math.min(Math.max(fullAgainAt, now) + intervalOf(rate) * tokens, emptiest(now, rate))
}

/** The time at which a bucket that has just been emptied is full again. */
function emptiest(now: number, rate: Rate): number {
  return now + intervalOf(rate) * rate.burst
}

/** The same step for two buckets: no token is taken unless both allow the request. */
export function decideBoth(
  fullAgainAt: readonly [number, number],
  now: number,
  first: Bucket,
  second: Bucket,
): { joint: JointDecision; next: [number, number] } {
  const one = decide(fullAgainAt[0], now, first.rate)
  const two = decide(fullAgainAt[1], now, second.rate)
  const allowed = one.decision.allowed && two.decision.allowed
  return {
    joint: isStricter(two.decision, one.decision)
      ? { decision: two.decision, bucket: second }
      : { decision: one.decision, bucket: first },
    next: allowed
      ? [one.next, two.next]
      : [
          Math.min(fullAgainAt[0], emptiest(now, first.rate)),
          Math.min(fullAgainAt[1], emptiest(now, second.rate)),
        ],
  }
}

function isStricter(a: Decision, b: Decision): boolean {
  if (a.allowed && b.allowed) return a.remaining < b.remaining
  return a.retryAfter > b.retryAfter
}

/** The headers `RateLimit-Policy` and `RateLimit`, as structured fields. */
export function rateLimitHeaders(
  name: string,
  rate: Rate,
  decision: Decision,
): [policy: string, state: string] {
  if (name !== lastPolicy.name || rate !== lastPolicy.rate) {
    lastPolicy = { name, rate, text: `"${name}";q=${rate.requests};w=${rate.windowSeconds ?? 60}` }
  }
  return [lastPolicy.text, `"${name}";r=${decision.remaining};t=${decision.reset}`]
}

/** Many requests in a row have the same limit. */
let lastPolicy: { name: string; rate: Rate | null; text: string } = { name: '', rate: null, text: '' }
