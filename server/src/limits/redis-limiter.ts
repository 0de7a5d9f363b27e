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

/** Limits in Redis. Away, it lets requests through and says so in the log: data matters more than counting. */
export class RedisLimiter implements Limiter {
  readonly #redis: Redis
  readonly #log: Logger
  #warnedAt = 0

  constructor(url: string, log: Logger) {
    this.#log = log
    this.#redis = new Redis(url, {
      maxRetriesPerRequest: 0,
      commandTimeout: 250,
      enableOfflineQueue: false,
      lazyConnect: false,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    })
    this.#redis.on('error', (error) => this.#warn(error))
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
    const interval = ((rate.windowSeconds ?? 60) * 1000) / rate.perMinute
    try {
      const [full, now] = (await this.#redis.eval(
        STEP,
        1,
        `wayleave:limit:${bucket}`,
        interval,
        interval * rate.burst,
        count ? '1' : '0',
      )) as [string, string]
      return decide(Number(full), Number(now), rate).decision
    } catch (error) {
      this.#warn(error as Error)
      return { allowed: true, remaining: rate.burst, reset: 0, retryAfter: 0 }
    }
  }

  #warn(error: Error): void {
    const now = Date.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#log.warn({ err: error }, 'Redis does not answer: rate limits are not applied.')
  }
}
