import { systemClock } from '../base/clock.ts'
import { SharedBuckets } from '../base/limits/buckets.ts'
import type { Limiter } from '../base/limits/limiter.ts'
import { MemoryLimiter } from '../base/limits/memory-limiter.ts'
import { RedisLimiter } from '../base/limits/redis-limiter.ts'
import type { RedisLink, RedisLinkOptions } from '../base/limits/redis-link.ts'
import { processMilliseconds } from '../base/threads/thread-place.ts'
import type { Closers } from './closers.ts'
import type { Opening } from './opening.ts'

/** What counts requests, for all nodes or for this one. */
export interface BaseParts {
  /** Null except for a server with WAYLEAVE_REDIS_URL. */
  redis: RedisLink | null
  limiter: Limiter
}

export async function openBase(
  { config, log, clock, serving, redisReplyMs, thread }: Opening,
  opened: Closers,
): Promise<BaseParts> {
  const redis =
    config.redisUrl && serving
      ? opened.use(await openRedis({ url: config.redisUrl, log, replyMs: redisReplyMs }))
      : null
  // Monotonic: a system clock that is set back would empty all buckets. Tests bring their own clock.
  const limiterTime = clock === systemClock ? () => performance.now() : () => clock().getTime()
  const inMemory = thread
    ? new MemoryLimiter(processMilliseconds, () => new SharedBuckets(thread.memory.buckets))
    : new MemoryLimiter(redis ? () => performance.now() : limiterTime)
  const limiter = opened.use(redis ? new RedisLimiter(redis, inMemory) : inMemory)
  return { redis, limiter }
}

/** The Redis client is only loaded if it is used: it takes a twentieth of the time of a start. */
async function openRedis(options: RedisLinkOptions): Promise<RedisLink> {
  const { RedisLink } = await import('../base/limits/redis-link.ts')
  return RedisLink.open(options)
}
