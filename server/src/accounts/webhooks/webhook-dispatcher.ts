import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type Clock, SECOND } from '../../base/clock.ts'
import { DatabaseError } from '../../base/database/database-error.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { recordEvent, system } from '../../base/events/events.ts'
import { SettingError } from '../../base/settings/config.ts'
import type { KeyCipher } from '../identity/key-cipher.ts'
import { MAX_FAILING, nextAttempt } from './retry-schedule.ts'
import { type Attempt, isDelivered, sendMessage } from './send-message.ts'
import {
  type DueWebhook,
  endAllLeases,
  endLease,
  failWaiting,
  readDueWebhooks,
  readNextMessage,
  renewLease,
  type StoredDelivery,
  type StoredWebhook,
  takeLease,
  updateDelivery,
  updateWebhook,
} from './store.ts'
import { secretsOf } from './webhook-secrets.ts'

const POLL = SECOND
/** Webhooks that are sent to at the same time, each one message after the other. */
const MAX_LANES = 64
/** The max lanes of webhooks that fail: a receiver that never responds holds one for 15 s. */
const MAX_FAILING_LANES = MAX_LANES / 2
/** The max lanes of one organization, so that a few cannot take all lanes with new webhooks either. */
const MAX_OWNER_LANES = 8
/** The messages that a lane sends before other webhooks get a turn. */
const MAX_LANE_MESSAGES = 100
/** Longer than an attempt can take. */
const LEASE = 40 * SECOND
/** After a failure nothing is sent to the webhook for this time, however many messages wait. */
const REST = 10 * SECOND
const MAX_ATTEMPTS_KEPT = 20
const GONE = 410

export interface DispatcherDeps {
  database: ControlDatabase
  clock: Clock
  log: Logger
  cipher: KeyCipher
  allowInternal: boolean
  random?: () => number
  restMs?: number
  /** How long a receiver may take to respond. */
  timeoutMs?: number
}

/**
 * Sends what is in the outbox of webhooks. Each webhook has a lane of its own, so that a slow receiver holds up nobody
 * else; a lease makes sure that one process sends for it. A message is delivered at least once: a process that ends
 * between the response and its record leaves the message waiting, and the next one sends it again with the same id.
 */
export class WebhookDispatcher {
  readonly results = { delivered: 0, failed: 0 }
  readonly #deps: DispatcherDeps
  readonly #lanes = new Map<string, DueWebhook & { done: Promise<void> }>()
  readonly #closing = new AbortController()
  #timer: NodeJS.Timeout | null = null
  #polling: Promise<void> | null = null

  constructor(deps: DispatcherDeps) {
    this.#deps = deps
  }

  /** Begins to poll. */
  async start(): Promise<void> {
    // With SQLite no other process sends, so leases are those of a process that was killed.
    if (this.#deps.database.kind === 'sqlite') await endAllLeases(this.#deps.database.db)
    this.#timer = setInterval(() => this.poll(), POLL).unref()
  }

  /** Starts a lane for each webhook that has something to send. Does nothing while it is under way. */
  poll(): void {
    if (this.#closing.signal.aborted) return
    this.#polling ??= this.#startLanes()
      .catch((error: unknown) => this.#warn(error, 'Messages to webhooks could not be read.'))
      .finally(() => {
        this.#polling = null
      })
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    while (this.#polling !== null || this.#lanes.size > 0) {
      await this.#polling
      await Promise.all([...this.#lanes.values()].map(({ done }) => done))
    }
  }

  /** Ends what is under way; it is sent again by the next process. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#closing.abort()
    await this.idle()
  }

  async #startLanes(): Promise<void> {
    const { database, clock } = this.#deps
    if (this.#lanes.size >= MAX_LANES) return
    const due = await readDueWebhooks(database, clock().toISOString(), 2 * MAX_LANES)
    for (const webhook of due) {
      if (!this.#hasLaneFor(webhook)) continue
      const { id } = webhook
      const done = this.#runLane(id)
        .catch((error: unknown) => this.#warn(error, 'A message to a webhook could not be sent.'))
        .finally(() => this.#lanes.delete(id))
      this.#lanes.set(id, { ...webhook, done })
    }
  }

  #hasLaneFor({ id, owner, isFailing }: DueWebhook): boolean {
    if (this.#lanes.has(id) || this.#lanes.size >= MAX_LANES) return false
    const lanes = [...this.#lanes.values()]
    if (isFailing && lanes.filter((lane) => lane.isFailing).length >= MAX_FAILING_LANES) return false
    return lanes.filter((lane) => lane.owner === owner).length < MAX_OWNER_LANES
  }

  async #runLane(webhookId: string): Promise<void> {
    const { database, clock, restMs = REST } = this.#deps
    const token = randomUUID()
    if (!(await takeLease(database, webhookId, token, LEASE))) return
    let rest = 0
    try {
      for (let sent = 0; sent < MAX_LANE_MESSAGES && !this.#closing.signal.aborted; sent++) {
        const next = await readNextMessage(database.db, webhookId, clock().toISOString())
        if (next === null || !(await renewLease(database, webhookId, token, LEASE))) return
        if (!(await this.#deliver(next.webhook, next.delivery))) {
          rest = this.#closing.signal.aborted ? 0 : restMs
          return
        }
      }
    } finally {
      await endLease(database, webhookId, token, rest)
    }
  }

  /** Returns whether the receiver accepted the message. */
  async #deliver(webhook: StoredWebhook, delivery: StoredDelivery): Promise<boolean> {
    const attempt = await this.#attempt(webhook, delivery)
    if (attempt === null) return false
    await this.#record(webhook, delivery, attempt)
    return isDelivered(attempt)
  }

  /** Null if a stop ended it. */
  async #attempt(webhook: StoredWebhook, { id, payload }: StoredDelivery): Promise<Attempt | null> {
    const { clock, cipher, allowInternal, timeoutMs } = this.#deps
    const at = clock()
    const { signal } = this.#closing
    const options = { allowInternal, signal, ...(timeoutMs !== undefined && { timeoutMs }) }
    try {
      const receiver = { url: webhook.url, secrets: secretsOf(webhook, cipher, at) }
      return await sendMessage({ id, at, payload }, receiver, options)
    } catch (error) {
      if (signal.aborted) return null
      if (!(error instanceof SettingError)) throw error
      const reason = 'The secret cannot be decrypted with WAYLEAVE_SECRET_KEY. Rotate it.'
      return { at: at.toISOString(), status: null, error: reason, milliseconds: 0 }
    }
  }

  async #record(webhook: StoredWebhook, delivery: StoredDelivery, attempt: Attempt): Promise<void> {
    const { database, clock, random = Math.random } = this.#deps
    const attempts = [...(JSON.parse(delivery.attempts) as Attempt[]), attempt].slice(-MAX_ATTEMPTS_KEPT)
    const isDone = isDelivered(attempt)
    this.results[isDone ? 'delivered' : 'failed']++
    const failures = isDone ? delivery.failures : delivery.failures + 1
    const next = isDone ? null : nextAttempt(failures, clock(), random)
    const waitingOrFailed = next === null ? 'failed' : 'waiting'
    await database.db.transaction().execute(async (tx) => {
      await updateDelivery(tx, delivery.id, {
        attempts: JSON.stringify(attempts),
        failures,
        state: isDone ? 'delivered' : waitingOrFailed,
        next_at: next?.toISOString() ?? null,
      })
      if (isDone) {
        if (webhook.failing_since !== null) await updateWebhook(tx, webhook.id, { failing_since: null })
        return
      }
      const failingSince = webhook.failing_since ?? clock().toISOString()
      await updateWebhook(tx, webhook.id, { failing_since: failingSince })
      const reason = pauseReason(attempt, failingSince, clock())
      if (reason === null) return
      await updateWebhook(tx, webhook.id, { paused_at: clock().toISOString(), pause_reason: reason })
      await failWaiting(tx, webhook.id)
      await recordEvent(tx, clock(), system, {
        action: 'webhook.paused',
        organizationId: webhook.organization_id,
        subject: `webhook:${webhook.id}`,
        detail: { host: new URL(webhook.url).host, reason },
      })
    })
  }

  #warn(error: unknown, message: string): void {
    // A database outage is logged elsewhere.
    if (error instanceof DatabaseError) this.#deps.log.debug(message)
    else this.#deps.log.warn({ err: error }, message)
  }
}

/** Why the webhook is paused after a failure; null if it goes on. */
function pauseReason({ status }: Attempt, failingSince: string, now: Date): string | null {
  if (status === GONE) return 'The receiver responded 410 Gone.'
  if (now.getTime() - Date.parse(failingSince) < MAX_FAILING) return null
  return 'The receiver has failed for a day.'
}
