import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { type Decision, decide, type Limiter, type Rate } from './limiter.ts'

/**
 * The same step as `decide`, in Redis and on Redis's clock, so that all nodes share one bucket and one time.
 * It answers the bucket before the step and the time; the decision is then made by `decide` itself.
 */
const STEP = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local full = tonumber(redis.call('GET', KEYS[1]) or '0')
local interval = tonumber(ARGV[1])
local room = tonumber(ARGV[2])
local base = math.max(full, now)
local next = base + interval
if ARGV[3] == '1' and next - now <= room + 1e-6 then
  redis.call('SET', KEYS[1], string.format('%.3f', next), 'PX', math.ceil(next - now) + 1000)
end
return { string.format('%.3f', full), string.format('%.3f', now) }
`

const WARN_EVERY_MS = 10_000
const TIMEOUT_MS = 250
/** After a failure Redis is left alone so long: a Redis that hangs must not slow every request down. */
const PAUSE_MS = 1000

/** Limits in Redis. Away, it lets requests through and says so in the log: data matters more than counting. */
export class RedisLimiter implements Limiter {
  readonly isLocal = false
  readonly #redis: Redis
  readonly #log: Logger
  #warnedAt = Number.NEGATIVE_INFINITY
  #pausedUntil = Number.NEGATIVE_INFINITY
  #away = false

  /** Resolves once Redis answers, or after a second without it. */
  static async open(url: string, log: Logger): Promise<RedisLimiter> {
    const limiter = new RedisLimiter(url, log)
    const patience = new AbortController()
    const ready = new Promise<void>((resolve) => limiter.#redis.once('ready', resolve))
    await Promise.race([ready, sleep(1000, undefined, { signal: patience.signal }).catch(() => {})])
    patience.abort()
    return limiter
  }

  private constructor(url: string, log: Logger) {
    this.#log = log
    this.#redis = new Redis(url, {
      maxRetriesPerRequest: 0,
      commandTimeout: TIMEOUT_MS,
      enableOfflineQueue: false,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    })
    this.#redis.on('error', (error) => this.#failed(error))
    this.#redis.on('ready', () => this.#answers())
  }

  take(bucket: string, rate: Rate): Promise<Decision> {
    return this.#step(bucket, rate, true)
  }

  peek(bucket: string, rate: Rate): Promise<Decision> {
    return this.#step(bucket, rate, false)
  }

  async close(): Promise<void> {
    this.#redis.disconnect()
  }

  async #step(bucket: string, rate: Rate, count: boolean): Promise<Decision> {
    const open = { allowed: true, remaining: rate.burst, reset: 0, retryAfter: 0 }
    if (performance.now() < this.#pausedUntil) return open
    const interval = ((rate.windowSeconds ?? 60) * 1000) / rate.requests
    try {
      const [full, now] = (await this.#redis.eval(
        STEP,
        1,
        `wayleave:limit:${bucket}`,
        interval,
        interval * rate.burst,
        count ? '1' : '0',
      )) as [string, string]
      this.#answers()
      return decide(Number(full), Number(now), rate).decision
    } catch (error) {
      this.#failed(error as Error)
      return open
    }
  }

  #answers(): void {
    if (!this.#away) return
    this.#away = false
    this.#pausedUntil = Number.NEGATIVE_INFINITY
    this.#log.info('Redis answers again: rate limits are applied.')
  }

  #failed(error: Error): void {
    const now = performance.now()
    this.#away = true
    this.#pausedUntil = now + PAUSE_MS
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#log.warn({ err: error }, 'Redis does not answer: rate limits are not applied.')
  }
}
