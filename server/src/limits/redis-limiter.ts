import { type Decision, decide, intervalOf, type Limiter, type Rate } from './limiter.ts'
import { MemoryLimiter } from './memory-limiter.ts'
import type { RedisLink } from './redis-link.ts'

/**
 * The same step as `decide`, for `count` requests at once, in Redis and on Redis's clock, so that all nodes
 * share one bucket and one time. `atLeast` is this node's state of the bucket: after an outage of Redis, or
 * if Redis has lost its data, the bucket continues from there. Returns the bucket before the step and the
 * time; the decisions are then made by `decide` itself.
 */
const STEP = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval = tonumber(ARGV[1])
local room = tonumber(ARGV[2])
local count = tonumber(ARGV[3])
local atLeast = tonumber(ARGV[4])
local full = tonumber(redis.call('GET', KEYS[1]) or '0')
if atLeast > 0 then full = math.max(full, now + atLeast) end
local reached = math.max(full, now)
for _ = 1, count do
  if reached + interval - now > room then break end
  reached = reached + interval
end
if count > 0 and reached > now then
  local lifetime = math.ceil((reached - now) / 1000) + 1000
  redis.call('SET', KEYS[1], string.format('%.0f', reached), 'PX', lifetime)
end
return { string.format('%.0f', full), string.format('%.0f', now) }
`

/** Requests for a bucket that arrived while a command for it was pending: one command decides them all. */
interface Batch {
  rate: Rate
  resolve: ((decision: Decision) => void)[]
}

/**
 * Rate limits in Redis, shared by all nodes, with an in-process copy of this node's state of each bucket. The
 * time at which a bucket is full again only moves forward, so Redis rejects whatever the copy rejects, and
 * such a request needs no command. Without Redis the copy decides alone, so that one node never admits more
 * than the limit.
 *
 * See docs/decisions/redis-timeouts.md.
 */
export class RedisLimiter implements Limiter {
  readonly isLocal = false
  readonly #link: RedisLink
  /** Uses a monotonic clock. */
  readonly #copy = new MemoryLimiter(() => performance.now())
  readonly #waiting = new Map<string, Batch>()

  constructor(link: RedisLink) {
    this.#link = link
  }

  take(bucket: string, rate: Rate): Decision | Promise<Decision> {
    if (!this.#link.isUp) return this.#copy.take(bucket, rate)
    const seen = this.#copy.peek(bucket, rate)
    if (!seen.allowed) return seen
    const batch = this.#waiting.get(bucket)
    if (batch && isSameRate(batch.rate, rate)) {
      return new Promise((resolve) => batch.resolve.push(resolve))
    }
    return this.#takeInTurn(bucket, rate)
  }

  async peek(bucket: string, rate: Rate): Promise<Decision> {
    const seen = this.#copy.peek(bucket, rate)
    if (!this.#link.isUp || !seen.allowed) return seen
    const state = await this.#step(bucket, rate, 0)
    return state ? decide(state.full, state.now, rate).decision : this.#copy.peek(bucket, rate)
  }

  async close(): Promise<void> {
    await this.#copy.close()
  }

  /** Sends one command for this request; requests that arrive meanwhile share the next one. */
  async #takeInTurn(bucket: string, rate: Rate): Promise<Decision> {
    const batch: Batch = { rate, resolve: [] }
    const isFirst = !this.#waiting.has(bucket)
    if (isFirst) this.#waiting.set(bucket, batch)
    const [decision] = await this.#decide(bucket, rate, 1)
    if (isFirst) this.#sendWaiting(bucket, batch)
    return decision!
  }

  async #sendWaiting(bucket: string, batch: Batch): Promise<void> {
    while (batch.resolve.length > 0) {
      const requests = batch.resolve.splice(0)
      const decisions = await this.#decide(bucket, batch.rate, requests.length)
      for (const [index, resolve] of requests.entries()) resolve(decisions[index]!)
    }
    this.#waiting.delete(bucket)
  }

  /** Decides on `count` requests, in order. */
  async #decide(bucket: string, rate: Rate, count: number): Promise<Decision[]> {
    const state = await this.#step(bucket, rate, count)
    if (state === null) return Array.from({ length: count }, () => this.#copy.take(bucket, rate))
    const decisions: Decision[] = []
    let { full } = state
    for (let i = 0; i < count; i++) {
      const { decision, next } = decide(full, state.now, rate)
      decisions.push(decision)
      full = next
    }
    // Relative to when the command was sent: a reply that waited for this process must not keep the copy
    // exhausted for longer than Redis is.
    this.#copy.raise(bucket, state.sentAt + full - state.now)
    return decisions
  }

  async #step(bucket: string, rate: Rate, count: number) {
    const interval = intervalOf(rate)
    const sentAt = this.#copy.now()
    const atLeast = Math.max(0, this.#copy.fullAgainAt(bucket) - sentAt)
    const reply = await this.#link.run(
      (redis) =>
        redis.eval(
          STEP,
          1,
          `wayleave:bucket:${bucket}`,
          interval,
          interval * rate.burst,
          count,
          atLeast,
        ) as Promise<[string, string]>,
    )
    return reply && { full: Number(reply[0]), now: Number(reply[1]), sentAt }
  }
}

function isSameRate(a: Rate, b: Rate): boolean {
  return a.requests === b.requests && a.burst === b.burst && a.windowSeconds === b.windowSeconds
}
