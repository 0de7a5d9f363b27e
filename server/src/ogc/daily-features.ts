import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { type Clock, DAY } from '../clock.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { Problem } from '../problem.ts'

/** Takes what is left of the day, at most what is wanted, and answers how much that was. */
const TAKE = `
local used = tonumber(redis.call('GET', KEYS[1]) or '0')
local taken = math.max(0, math.min(tonumber(ARGV[1]), tonumber(ARGV[2]) - used))
redis.call('SET', KEYS[1], string.format('%.0f', used + taken), 'EX', 172800)
return string.format('%.0f', taken)
`

/**
 * How many features a key may page through in a day of UTC (a user, by the keys of the console’s sessions). Features are taken before they are read and what a
 * page did not need is given back, so that many requests at once get no more than one after the other. Counted
 * in Redis for all nodes together where there is one, else by each process for itself, like the rate limits.
 */
export class DailyFeatures {
  readonly #most: number | null
  readonly #clock: Clock
  readonly #redis: Redis | null
  #day = 0
  #used = new Map<string, number>()

  constructor(most: number | null, clock: Clock, redisUrl: string | null, log: Logger) {
    this.#most = most
    this.#clock = clock
    this.#redis =
      most !== null && redisUrl !== null
        ? new Redis(redisUrl, { maxRetriesPerRequest: 0, commandTimeout: 250, enableOfflineQueue: false })
        : null
    this.#redis?.on('error', (error) => log.warn({ err: error }, 'Redis does not count daily features.'))
  }

  /** Resolves once Redis answers, where there is one. */
  async ready(): Promise<void> {
    if (this.#redis && this.#redis.status !== 'ready') {
      await new Promise<void>((resolve) => this.#redis!.once('ready', resolve))
    }
  }

  /** How many of the wanted features the key may have now: all of them where nothing bounds it; 429 at none. */
  take(payer: string, wanted: number): MaybePromise<number> {
    if (this.#most === null) return wanted
    const taken = this.#redis === null ? this.#takeHere(payer, wanted, this.#most) : 0
    return taken > 0 ? taken : this.#takeBounded(payer, wanted, this.#most)
  }

  giveBack(payer: string, unused: number): void {
    if (this.#most === null || unused === 0) return
    this.#count(payer, -unused)
    this.#redis?.decrby(this.#redisKey(payer), unused).catch(() => {})
  }

  async close(): Promise<void> {
    this.#redis?.disconnect()
  }

  async #takeBounded(payer: string, wanted: number, most: number): Promise<number> {
    const taken = (await this.#takeFromRedis(payer, wanted, most)) ?? this.#takeHere(payer, wanted, most)
    if (taken > 0) return taken
    const seconds = Math.ceil((DAY - (this.#clock().getTime() % DAY)) / 1000)
    throw new Problem('daily-features-reached', `A key may page through ${most} features a day (UTC).`, {
      headers: { 'retry-after': String(seconds) },
    })
  }

  async #takeFromRedis(payer: string, wanted: number, most: number): Promise<number | null> {
    if (this.#redis === null) return null
    try {
      const taken = Number(await this.#redis.eval(TAKE, 1, this.#redisKey(payer), wanted, most))
      this.#count(payer, taken)
      return taken
    } catch {
      // Without Redis each process counts for itself, with what it has seen so far.
      return null
    }
  }

  #takeHere(payer: string, wanted: number, most: number): number {
    const taken = Math.max(0, Math.min(wanted, most - this.#count(payer, 0)))
    this.#count(payer, taken)
    return taken
  }

  #count(payer: string, more: number): number {
    const day = this.#today()
    if (day !== this.#day) {
      this.#day = day
      this.#used = new Map()
    }
    const used = Math.max(0, (this.#used.get(payer) ?? 0) + more)
    this.#used.set(payer, used)
    return used
  }

  #today(): number {
    return Math.floor(this.#clock().getTime() / DAY)
  }

  #redisKey(payer: string): string {
    return `wayleave:features:${this.#today()}:${payer}`
  }
}
