import { type Buckets, OwnBuckets } from './buckets.ts'
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

/** Counts requests in memory: that of this thread, or memory that all serving threads share. */
export class MemoryLimiter implements Limiter {
  readonly #buckets: Buckets
  readonly #milliseconds: () => number

  constructor(
    milliseconds: () => number = Date.now,
    buckets: (now: () => number) => Buckets = (now) => new OwnBuckets(now),
  ) {
    this.#milliseconds = milliseconds
    this.#buckets = buckets(() => this.now())
  }

  take(bucket: string, rate: Rate): Decision {
    const buckets = this.#buckets
    buckets.hold(bucket, null)
    const now = this.now()
    const { decision, next } = decide(buckets.get(bucket, now), now, rate)
    buckets.set(bucket, next, now)
    buckets.release()
    return decision
  }

  takeBoth(first: Bucket, second: Bucket): JointDecision {
    const buckets = this.#buckets
    buckets.hold(first.name, second.name)
    const now = this.now()
    const before: [number, number] = [buckets.get(first.name, now), buckets.get(second.name, now)]
    const { joint, next } = decideBoth(before, now, first, second)
    // A refusal changes a bucket only if the clock was set back.
    if (next[0] !== before[0]) buckets.set(first.name, next[0], now)
    if (next[1] !== before[1]) buckets.set(second.name, next[1], now)
    buckets.release()
    return joint
  }

  charge({ name, rate }: Bucket, tokens: number): void {
    const buckets = this.#buckets
    buckets.hold(name, null)
    const now = this.now()
    buckets.set(name, charged(buckets.get(name, now), now, rate, tokens), now)
    buckets.release()
  }

  peekBoth(first: Bucket, second: Bucket): JointDecision {
    const buckets = this.#buckets
    buckets.hold(first.name, second.name)
    const now = this.now()
    const states: [number, number] = [buckets.get(first.name, now), buckets.get(second.name, now)]
    buckets.release()
    return decideBoth(states, now, first, second).joint
  }

  peek(bucket: string, rate: Rate): Decision {
    return decide(this.fullAgainAt(bucket), this.now(), rate).decision
  }

  /** The time on this limiter's clock, in whole microseconds. */
  now(): number {
    return Math.round(this.#milliseconds() * 1000)
  }

  /** When the bucket is full again, on this limiter's clock; in the past if it was not used lately. */
  fullAgainAt(bucket: string): number {
    this.#buckets.hold(bucket, null)
    const fullAgainAt = this.#buckets.get(bucket, this.now())
    this.#buckets.release()
    return fullAgainAt
  }

  /** Merges the state of another counter into the bucket; never adds tokens to it. */
  raise(bucket: string, fullAgainAt: number): void {
    this.#buckets.hold(bucket, null)
    const now = this.now()
    if (fullAgainAt > this.#buckets.get(bucket, now)) this.#buckets.set(bucket, fullAgainAt, now)
    this.#buckets.release()
  }

  async close(): Promise<void> {
    this.#buckets.close()
  }
}
