import type { Grant } from '../../accounts/access/grant.ts'
import { type Clock, DAY } from '../../base/clock.ts'
import type { RedisLink } from '../../base/limits/redis-link.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { Problem } from '../../base/problem.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { type FeatureCounts, OwnFeatureCounts } from './feature-counts.ts'

/**
 * Takes at most `wanted` of the day's remaining features and returns how many it took. `usedHere` is this
 * node's own count for the day; after a Redis outage, counting continues from it.
 */
const TAKE = `
local wanted = tonumber(ARGV[1])
local max = tonumber(ARGV[2])
local usedHere = tonumber(ARGV[3])
local used = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), usedHere)
local taken = math.max(0, math.min(wanted, max - used))
redis.call('SET', KEYS[1], string.format('%.0f', used + taken), 'EX', 172800)
return string.format('%.0f', taken)
`

/** The number of features that a request may return, and the counter that they were taken from. */
export interface FeatureAllowance {
  count: number
  /** The UTC day, in days since 1970. */
  day: number
  /** Whether they were counted in Redis too. */
  isShared: boolean
}

/** For whom features are counted. */
export type CountedGrant = Pick<Grant, 'owner' | 'dailyFeatures'>

/** The grant; null for features of an open dataset, which everybody may have as a file. */
export function countedGrant(
  grant: CountedGrant,
  { visibility }: Pick<Dataset, 'visibility'>,
): CountedGrant | null {
  return visibility === 'open' ? null : grant
}

/**
 * Limits how many features the keys of one owner (a user or an organization) may page through per UTC day.
 * Features are reserved before they are read, and those that a page did not need are returned to the day they
 * were taken from, so that concurrent requests get no more than sequential ones. If Redis is configured, all
 * nodes share one count there. Without Redis, and while it is unreachable, each process counts for itself, all its
 * threads together, and continues from what it has seen so far.
 */
export class DailyFeatures {
  readonly #max: number | null
  readonly #clock: Clock
  readonly #link: RedisLink | null
  readonly #counts: FeatureCounts

  constructor(
    max: number | null,
    clock: Clock,
    link: RedisLink | null,
    counts: FeatureCounts = new OwnFeatureCounts(),
  ) {
    this.#max = max
    this.#clock = clock
    this.#link = link
    this.#counts = counts
  }

  /**
   * Reserves up to `requestedCount` features: all of them if there is no limit, or no owner to count for. The limit of
   * the organization's plan replaces that of the settings. Throws 429 if none are left.
   */
  take(grant: CountedGrant | null, requestedCount: number): MaybePromise<FeatureAllowance> {
    const max = grant === null ? null : (grant.dailyFeatures ?? this.#max)
    if (max === null || grant === null) return { count: requestedCount, day: 0, isShared: false }
    const { owner } = grant
    const day = this.#today()
    const fromRedis = this.#link?.isUp
      ? this.#takeFromRedis(this.#link, owner, requestedCount, max, day)
      : null
    return andThen(fromRedis, (shared) => {
      const allowance = shared ?? this.#takeHere(owner, requestedCount, max, day)
      if (allowance.count > 0) return allowance
      throw this.problem(`The keys of one owner may page through ${max} features a day (UTC).`)
    })
  }

  /** The 429 of a reached limit. Its `Retry-After` is the time until the next UTC day, in seconds. */
  problem(detail: string): Problem {
    const seconds = Math.ceil((DAY - (this.#clock().getTime() % DAY)) / 1000)
    return new Problem('daily-features-reached', detail, { headers: { 'retry-after': String(seconds) } })
  }

  /**
   * Returns the features that a page did not need. If Redis misses this, its count is too high, never too
   * low.
   */
  release(grant: CountedGrant | null, { day, isShared }: FeatureAllowance, unused: number): void {
    if (grant === null || (grant.dailyFeatures ?? this.#max) === null || unused === 0) return
    const { owner } = grant
    this.#counts.add(owner, day, () => -unused)
    if (isShared) this.#link?.run((redis) => redis.decrby(redisKey(day, owner), unused))
  }

  async #takeFromRedis(
    link: RedisLink,
    owner: string,
    requestedCount: number,
    max: number,
    day: number,
  ): Promise<FeatureAllowance | null> {
    let usedHere = 0
    this.#counts.add(owner, day, (used) => {
      usedHere = used
      return 0
    })
    const reply = await link.run((redis) =>
      redis.eval(TAKE, 1, redisKey(day, owner), requestedCount, max, usedHere),
    )
    if (reply === null) return null
    const count = Number(reply)
    this.#counts.add(owner, day, () => count)
    return { count, day, isShared: true }
  }

  #takeHere(owner: string, requestedCount: number, max: number, day: number): FeatureAllowance {
    const count = this.#counts.add(owner, day, (used) => Math.max(0, Math.min(requestedCount, max - used)))
    return { count, day, isShared: false }
  }

  #today(): number {
    return Math.floor(this.#clock().getTime() / DAY)
  }
}

function redisKey(day: number, owner: string): string {
  return `wayleave:features:${day}:${owner}`
}
