import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'

/** Reply timeout in milliseconds. */
const REPLY_MS = 250
const CHECK_MS = 50
/** How often an unavailable Redis is probed, in milliseconds. */
const PROBE_MS = 500
/** Reconnects after this many unsuccessful probes: the network may have dropped the connection silently. */
const MAX_SILENT_ROUNDS = 7
const WARN_EVERY_MS = 10_000
/** How long startup waits for Redis, in milliseconds. */
const OPEN_MS = 1000

/** See docs/decisions/redis-timeouts.md. */
export interface RedisLinkOptions {
  url: string
  log: Logger
  replyMs?: number | undefined
}

/** A command whose reply has not arrived yet. */
interface Outstanding {
  sentAt: number
  fail(): void
}

/**
 * A connection to Redis with a circuit breaker. Callers wait at most `replyMs` for a reply, once: then Redis
 * counts as unavailable, all pending and later commands return null at once, and only a background probe
 * contacts Redis until it replies again. Meanwhile callers count in process.
 */
export class RedisLink {
  readonly #redis: Redis
  readonly #log: Logger
  readonly #replyMs: number
  /** In the order of sending, which is the order of the replies. */
  readonly #outstanding = new Set<Outstanding>()
  readonly #closing = new AbortController()
  #checking: NodeJS.Timeout | null = null
  #isUp = false
  #outages = 0
  #warnedAt = Number.NEGATIVE_INFINITY
  #probing: Promise<void> | null = null

  /** Resolves when Redis replies, or after a second without a reply. */
  static async open(options: RedisLinkOptions): Promise<RedisLink> {
    const link = new RedisLink(options)
    const deadline = performance.now() + OPEN_MS
    while (!link.#isUp && performance.now() < deadline) await sleep(10)
    if (!link.#isUp) link.#warn(new Error(`Redis did not reply within ${OPEN_MS} ms.`))
    return link
  }

  private constructor({ url, log, replyMs = REPLY_MS }: RedisLinkOptions) {
    this.#log = log
    this.#replyMs = replyMs
    this.#redis = new Redis(url, {
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      connectTimeout: 5000,
      retryStrategy: (attempt) => Math.min(attempt * 100, 2000),
    })
    this.#redis.on('error', (error) => this.#lose(error))
    this.#redis.on('close', () => this.#lose(new Error('The connection to Redis was closed.')))
    this.#redis.on('ready', () => this.#regain())
  }

  /** False while callers must count in process. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** How often Redis became unavailable, for the metrics. */
  get outages(): number {
    return this.#outages
  }

  /** The reply to a command; null if Redis is unavailable or does not reply in time. */
  run<T>(command: (redis: Redis) => Promise<T>): Promise<T | null> {
    return this.#isUp ? this.#send(command) : Promise.resolve(null)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    if (this.#checking) clearInterval(this.#checking)
    this.#failOutstanding()
    this.#isUp = false
    this.#redis.disconnect()
    await this.#probing
  }

  #send<T>(command: (redis: Redis) => Promise<T>): Promise<T | null> {
    return new Promise<T | null>((resolve) => {
      const entry: Outstanding = { sentAt: performance.now(), fail: () => resolve(null) }
      this.#outstanding.add(entry)
      this.#checking ??= setInterval(() => this.#findLate(), CHECK_MS).unref()
      command(this.#redis).then(
        (reply) => {
          this.#outstanding.delete(entry)
          resolve(reply)
        },
        (error: Error) => {
          this.#outstanding.delete(entry)
          this.#lose(error)
          resolve(null)
        },
      )
    })
  }

  /**
   * Timers run before sockets are read. After a busy event loop iteration the reply to a late command is
   * often in the socket's buffer already, so lateness is decided after the next poll phase: `setImmediate`
   * runs right after it. Only commands that were late before that poll phase count.
   */
  #findLate(): void {
    const lateIfSentBefore = performance.now() - this.#replyMs
    const oldest = this.#outstanding.values().next().value
    if (oldest === undefined) {
      clearInterval(this.#checking!)
      this.#checking = null
    } else if (oldest.sentAt < lateIfSentBefore) {
      setImmediate(() => {
        const stillOldest = this.#outstanding.values().next().value
        if (stillOldest !== undefined && stillOldest.sentAt < lateIfSentBefore) {
          this.#lose(new Error(`Redis did not reply within ${this.#replyMs} ms.`))
        }
      })
    }
  }

  #failOutstanding(): void {
    for (const entry of this.#outstanding) entry.fail()
    this.#outstanding.clear()
  }

  #lose(error: Error): void {
    if (this.#isUp) this.#outages++
    this.#isUp = false
    this.#failOutstanding()
    if (this.#closing.signal.aborted) return
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = null
    })
    this.#warn(error)
  }

  #warn(error: Error): void {
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#log.warn({ err: error }, 'Redis does not reply: each node applies the limits by itself.')
  }

  #regain(): void {
    if (this.#isUp || this.#closing.signal.aborted) return
    this.#isUp = true
    if (this.#warnedAt === Number.NEGATIVE_INFINITY) return
    this.#log.info('Redis replies again: all nodes apply the limits together.')
  }

  /**
   * Probes until Redis replies in time again. Replies arrive in order, so the reply to a probe proves that no
   * older command is pending. Only one probe at a time, so that they do not pile up in a Redis that hangs.
   */
  async #probe(): Promise<void> {
    let isAsking = false
    for (let round = 1; !this.#isUp && !this.#closing.signal.aborted; round++) {
      let hasReplied = false
      if (!isAsking && this.#redis.status === 'ready') {
        isAsking = true
        const settle = (success: boolean) => {
          isAsking = false
          hasReplied = success
        }
        this.#redis.ping().then(
          () => settle(true),
          () => settle(false),
        )
      }
      await this.#pause(this.#replyMs)
      // The poll phase after a late timer reads what has arrived meanwhile.
      await new Promise(setImmediate)
      if (hasReplied) this.#regain()
      if (this.#isUp) return
      await this.#pause(PROBE_MS)
      if (round % MAX_SILENT_ROUNDS === 0 && this.#redis.status !== 'connecting') {
        isAsking = false
        this.#redis.disconnect(true)
      }
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => {})
  }
}
