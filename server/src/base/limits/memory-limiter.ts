import {
  type Bucket,
  charged,
  type Decision,
  decide,
  decideBoth,
  type JointDecision,
  type Limiter,
  type Rate,
} from './limiter.ts'

const SWEEP_MS = 10_000
/** Many addresses of an attacker must not exhaust the memory: beyond this, the oldest buckets are evicted. */
const MAX_BUCKETS = 500_000

export class MemoryLimiter implements Limiter {
  readonly #fullAgainAt = new Map<string, number>()
  readonly #milliseconds: () => number
  readonly #sweep: NodeJS.Timeout

  constructor(milliseconds: () => number = Date.now) {
    this.#milliseconds = milliseconds
    this.#sweep = setInterval(() => this.#forgetFull(), SWEEP_MS).unref()
  }

  take(bucket: string, rate: Rate): Decision {
    const { decision, next } = decide(this.#fullAgainAt.get(bucket) ?? 0, this.now(), rate)
    this.#fullAgainAt.set(bucket, next)
    return decision
  }

  takeBoth(first: Bucket, second: Bucket): JointDecision {
    const { joint, next } = this.#decideBoth(first, second)
    // A refusal changes a bucket only if the clock was set back.
    if (next[0] !== this.fullAgainAt(first.name)) this.#fullAgainAt.set(first.name, next[0])
    if (next[1] !== this.fullAgainAt(second.name)) this.#fullAgainAt.set(second.name, next[1])
    return joint
  }

  charge({ name, rate }: Bucket, tokens: number): void {
    this.#fullAgainAt.set(name, charged(this.fullAgainAt(name), this.now(), rate, tokens))
  }

  peekBoth(first: Bucket, second: Bucket): JointDecision {
    return this.#decideBoth(first, second).joint
  }

  peek(bucket: string, rate: Rate): Decision {
    return decide(this.#fullAgainAt.get(bucket) ?? 0, this.now(), rate).decision
  }

  /** The time on this limiter's clock, in whole microseconds. */
  now(): number {
    return Math.round(this.#milliseconds() * 1000)
  }

  /** When the bucket is full again, on this limiter's clock; in the past if it was not used lately. */
  fullAgainAt(bucket: string): number {
    return this.#fullAgainAt.get(bucket) ?? 0
  }

  /** Merges the state of another counter into the bucket; never adds tokens to it. */
  raise(bucket: string, fullAgainAt: number): void {
    if (fullAgainAt > this.fullAgainAt(bucket)) this.#fullAgainAt.set(bucket, fullAgainAt)
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep)
  }

  #decideBoth(first: Bucket, second: Bucket) {
    const now = this.now()
    return decideBoth([this.fullAgainAt(first.name), this.fullAgainAt(second.name)], now, first, second)
  }

  #forgetFull(): void {
    const now = this.now()
    for (const [bucket, fullAgainAt] of this.#fullAgainAt) {
      if (fullAgainAt <= now || this.#fullAgainAt.size > MAX_BUCKETS) this.#fullAgainAt.delete(bucket)
    }
  }
}
