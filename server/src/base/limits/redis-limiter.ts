import {
  type Bucket,
  type Decision,
  decide,
  decideBoth,
  intervalOf,
  type JointDecision,
  type Limiter,
  type Rate,
} from './limiter.ts'
import { MemoryLimiter } from './memory-limiter.ts'
import type { RedisLink } from './redis-link.ts'

/**
 * The same step as `decide` (or `decideBoth` for two keys), for `count` requests at once, in Redis and on
 * Redis's clock, so that all nodes share one bucket and one time. `atLeast` is this node's state of the
 * bucket: after an outage of Redis, or if Redis has lost its data, the bucket continues from there. Returns
 * the time and each bucket before the step; the decisions are then made by the same functions as in memory.
 */
const STEP = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local count = tonumber(ARGV[1])
local interval, room, reached = {}, {}, {}
local reply = { string.format('%.0f', now) }
for i = 1, #KEYS do
  interval[i] = tonumber(ARGV[3 * i - 1])
  room[i] = tonumber(ARGV[3 * i])
  local atLeast = tonumber(ARGV[3 * i + 1])
  local full = tonumber(redis.call('GET', KEYS[i]) or '0')
  if atLeast > 0 then full = math.max(full, now + atLeast) end
  full = math.min(full, now + room[i])
  reached[i] = math.max(full, now)
  reply[i + 1] = string.format('%.0f', full)
end
for _ = 1, count do
  local fits = true
  for i = 1, #KEYS do
    if reached[i] + interval[i] - now > room[i] then fits = false end
  end
  if not fits then break end
  for i = 1, #KEYS do reached[i] = reached[i] + interval[i] end
end
for i = 1, #KEYS do
  if count > 0 and reached[i] > now then
    local lifetime = math.ceil((reached[i] - now) / 1000) + 1000
    redis.call('SET', KEYS[i], string.format('%.0f', reached[i]), 'PX', lifetime)
  end
end
return reply
`

/** One bucket, or two that a request is taken from together. */
type Buckets = readonly [Bucket] | readonly [Bucket, Bucket]

/** Requests for buckets that arrived while a command for them was pending: one command decides them all. */
interface Batch {
  buckets: Buckets
  resolve: ((decision: JointDecision) => void)[]
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
  readonly #link: RedisLink
  readonly #copy: MemoryLimiter
  readonly #waiting = new Map<string, Batch>()

  /** The copy uses a monotonic clock. */
  constructor(link: RedisLink, copy = new MemoryLimiter(() => performance.now())) {
    this.#link = link
    this.#copy = copy
  }

  take(name: string, rate: Rate): Decision | Promise<Decision> {
    if (!this.#link.isUp) return this.#copy.take(name, rate)
    const decision = this.#takeShared([{ name, rate }])
    return decision instanceof Promise ? decision.then((joint) => joint.decision) : decision.decision
  }

  takeBoth(first: Bucket, second: Bucket): JointDecision | Promise<JointDecision> {
    if (!this.#link.isUp) return this.#copy.takeBoth(first, second)
    return this.#takeShared([first, second])
  }

  charge(bucket: Bucket, tokens: number): void {
    this.#copy.charge(bucket, tokens)
  }

  async peek(name: string, rate: Rate): Promise<Decision> {
    const seen = this.#copy.peek(name, rate)
    if (!this.#link.isUp || !seen.allowed) return seen
    const state = await this.#step([{ name, rate }], 0)
    return state ? decide(state.full[0]!, state.now, rate).decision : this.#copy.peek(name, rate)
  }

  async close(): Promise<void> {
    await this.#copy.close()
  }

  #takeShared(buckets: Buckets): JointDecision | Promise<JointDecision> {
    const seen = this.#peekCopy(buckets)
    if (!seen.decision.allowed) return seen
    const batch = this.#waiting.get(batchName(buckets))
    if (batch && isSame(batch.buckets, buckets)) {
      return new Promise((resolve) => batch.resolve.push(resolve))
    }
    return this.#takeInTurn(buckets)
  }

  #peekCopy([first, second]: Buckets): JointDecision {
    if (second) return this.#copy.peekBoth(first, second)
    return { decision: this.#copy.peek(first.name, first.rate), bucket: first }
  }

  #takeCopy([first, second]: Buckets): JointDecision {
    if (second) return this.#copy.takeBoth(first, second)
    return { decision: this.#copy.take(first.name, first.rate), bucket: first }
  }

  /** Sends one command for this request; requests that arrive meanwhile share the next one. */
  async #takeInTurn(buckets: Buckets): Promise<JointDecision> {
    const name = batchName(buckets)
    const batch: Batch = { buckets, resolve: [] }
    const isFirst = !this.#waiting.has(name)
    if (isFirst) this.#waiting.set(name, batch)
    const [decision] = await this.#decide(buckets, 1)
    if (isFirst) this.#sendWaiting(name, batch)
    return decision!
  }

  async #sendWaiting(name: string, batch: Batch): Promise<void> {
    while (batch.resolve.length > 0) {
      const requests = batch.resolve.splice(0)
      const decisions = await this.#decide(batch.buckets, requests.length)
      for (const [index, resolve] of requests.entries()) resolve(decisions[index]!)
    }
    this.#waiting.delete(name)
  }

  /** Decides on `count` requests, in order. */
  async #decide(buckets: Buckets, count: number): Promise<JointDecision[]> {
    const state = await this.#step(buckets, count)
    if (state === null) return Array.from({ length: count }, () => this.#takeCopy(buckets))
    const decisions: JointDecision[] = []
    const [first, second] = buckets
    let [full, secondFull = 0] = state.full
    for (let i = 0; i < count; i++) {
      if (second) {
        const { joint, next } = decideBoth([full!, secondFull], state.now, first, second)
        decisions.push(joint)
        full = next[0]
        secondFull = next[1]
      } else {
        const { decision, next } = decide(full!, state.now, first.rate)
        decisions.push({ decision, bucket: first })
        full = next
      }
    }
    // Relative to when the command was sent: a reply that waited for this process must not keep the copy
    // exhausted for longer than Redis is.
    this.#copy.raise(first.name, state.sentAt + full! - state.now)
    if (second) this.#copy.raise(second.name, state.sentAt + secondFull - state.now)
    return decisions
  }

  async #step(buckets: Buckets, count: number) {
    const sentAt = this.#copy.now()
    const states = buckets.flatMap(({ name, rate }) => {
      const interval = intervalOf(rate)
      return [interval, interval * rate.burst, Math.max(0, this.#copy.fullAgainAt(name) - sentAt)]
    })
    const keys = buckets.map(({ name }) => `wayleave:bucket:${name}`)
    const reply = await this.#link.run(
      (redis) => redis.eval(STEP, keys.length, ...keys, count, ...states) as Promise<string[]>,
    )
    if (reply === null) return null
    const [now, ...full] = reply.map(Number)
    return { full, now: now!, sentAt }
  }
}

function batchName(buckets: Buckets): string {
  return buckets.length === 1 ? buckets[0].name : `${buckets[0].name} ${buckets[1].name}`
}

function isSame(a: Buckets, b: Buckets): boolean {
  return a.every(({ rate }, index) => {
    const other = b[index]?.rate
    return (
      other !== undefined &&
      rate.requests === other.requests &&
      rate.burst === other.burst &&
      rate.windowSeconds === other.windowSeconds
    )
  })
}
