import type {
  CreatedWebhook,
  DeliveryRecord,
  NewWebhook,
  RotatedWebhook,
  WebhookChange,
  WebhookRecord,
} from '@wayleave/contract/records'
import { WEBHOOK_TEST } from '@wayleave/contract/webhook-events'
import { type Clock, DAY, plus, SECOND } from '../../base/clock.ts'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { payloadOf, queuePayload } from '../../base/events/webhook-outbox-store.ts'
import { isId, newId } from '../../base/id.ts'
import { notFound, Problem } from '../../base/problem.ts'
import { lockOrganizations } from '../access/membership-store.ts'
import type { KeyCipher } from '../identity/key-cipher.ts'
import { newWebhookSecret } from './signature.ts'
import {
  type DeliveryPage,
  deleteWebhook,
  deliveryRecord,
  endRest,
  failWaiting,
  findDelivery,
  findOwner,
  findWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  lockWebhook,
  readRecent,
  type StoredWebhook,
  updateDelivery,
  updateWebhook,
} from './store.ts'
import { checkWebhookUrl } from './webhook-input.ts'
import { secretName } from './webhook-secrets.ts'

/** Max number of webhooks of one organization, and of the platform. */
const MAX_WEBHOOKS = 20
const STANDARD_OVERLAP = DAY

/** Who acts, and whose webhooks: an organization's, or with null the platform's. */
export interface WebhookActor {
  organizationId: string | null
  origin: Origin
}

export interface WebhooksDeps {
  database: ControlDatabase
  clock: Clock
  cipher: KeyCipher
  allowInternal: boolean
}

/** The webhooks of an organization or of the platform. Who may use them is decided by their routes. */
export class Webhooks {
  readonly #deps: WebhooksDeps

  constructor(deps: WebhooksDeps) {
    this.#deps = deps
  }

  async list({ organizationId }: WebhookActor): Promise<WebhookRecord[]> {
    const { database, clock } = this.#deps
    const records: WebhookRecord[] = []
    for (const row of await listWebhooks(database.db, organizationId))
      records.push(await webhookRecord(database.db, row, clock()))
    return records
  }

  /** The organization of a webhook, or null for the platform: for the operator, who acts on all. */
  async ownerOf(id: string): Promise<string | null> {
    const ownerId = isId('whk', id) ? await findOwner(this.#deps.database.db, id) : undefined
    if (ownerId === undefined) throw notFound('such webhook')
    return ownerId
  }

  create(actor: WebhookActor, input: NewWebhook): Promise<CreatedWebhook> {
    const { database, clock, cipher, allowInternal } = this.#deps
    const { organizationId } = actor
    const url = checkWebhookUrl(input.url, allowInternal)
    const id = newId('whk')
    const secret = newWebhookSecret()
    const at = clock()
    return database.db.transaction().execute(async (tx) => {
      if (organizationId === null) await database.lockName(tx, 'webhooks of the platform')
      else if ((await lockOrganizations(database, tx, [organizationId])).size === 0)
        throw notFound('such organization')
      if ((await listWebhooks(tx, organizationId)).length >= MAX_WEBHOOKS) {
        throw new Problem('conflict', `There may be ${MAX_WEBHOOKS} webhooks. Delete one first.`)
      }
      const row: StoredWebhook = {
        id,
        organization_id: organizationId,
        url,
        events: JSON.stringify(input.events),
        description: input.description?.trim() ?? '',
        secret: cipher.encrypt(secret, secretName(id)),
        previous_secret: null,
        previous_ends_at: null,
        created_at: at.toISOString(),
        failing_since: null,
        paused_at: null,
        pause_reason: null,
        lease_token: null,
        lease_until: null,
      }
      await insertWebhook(tx, row)
      await this.#record(tx, actor, 'created', row, { events: input.events })
      return { ...(await webhookRecord(tx, row, at)), secret }
    })
  }

  async find(actor: WebhookActor, id: string): Promise<WebhookRecord> {
    const { database, clock } = this.#deps
    return webhookRecord(database.db, await this.#find(actor, id), clock())
  }

  change(actor: WebhookActor, id: string, change: WebhookChange): Promise<WebhookRecord> {
    const { clock, allowInternal } = this.#deps
    const { url, events, description, paused } = change
    const values: Partial<StoredWebhook> = {
      ...(url !== undefined && { url: checkWebhookUrl(url, allowInternal) }),
      ...(events !== undefined && { events: JSON.stringify(events) }),
      ...(description !== undefined && { description: description.trim() }),
    }
    return this.#alter(actor, id, async (tx, row) => {
      // A webhook that goes on begins anew: it is not paused again by failures from before.
      if (paused === false)
        Object.assign(values, { paused_at: null, pause_reason: null, failing_since: null })
      if (paused === true && row.paused_at === null) {
        Object.assign(values, { paused_at: clock().toISOString(), pause_reason: null })
        await failWaiting(tx, id)
      }
      if (paused === false) await endRest(tx, id)
      await updateWebhook(tx, id, values)
      const changed = { ...row, ...values }
      const detail = { ...(events && { events }), ...(paused !== undefined && { paused }) }
      await this.#record(tx, actor, 'changed', changed, detail)
      return webhookRecord(tx, changed, clock())
    })
  }

  /** Makes a new secret. Messages are signed with the old one too until the overlap ends. */
  rotate(
    actor: WebhookActor,
    id: string,
    { overlapSeconds = STANDARD_OVERLAP / SECOND }: { overlapSeconds?: number | undefined },
  ): Promise<RotatedWebhook> {
    const { clock, cipher } = this.#deps
    return this.#alter(actor, id, async (tx, row) => {
      const secret = newWebhookSecret()
      const endsAt = overlapSeconds === 0 ? null : plus(clock(), overlapSeconds * SECOND).toISOString()
      await updateWebhook(tx, id, {
        secret: cipher.encrypt(secret, secretName(id)),
        previous_secret: endsAt === null ? null : row.secret,
        previous_ends_at: endsAt,
      })
      await this.#record(tx, actor, 'rotated', row, { previousSecretEndsAt: endsAt })
      return { id, secret, previousSecretEndsAt: endsAt }
    })
  }

  delete(actor: WebhookActor, id: string): Promise<void> {
    return this.#alter(actor, id, async (tx, row) => {
      await deleteWebhook(tx, id)
      await this.#record(tx, actor, 'deleted', row)
    })
  }

  /** Queues a message that says no more than that it is a test. */
  test(actor: WebhookActor, id: string): Promise<DeliveryRecord> {
    const { clock } = this.#deps
    return this.#alter(actor, id, async (tx, row) => {
      requireRunning(row)
      await endRest(tx, id)
      const payload = payloadOf(WEBHOOK_TEST, clock(), { webhookId: id })
      const [messageId] = await queuePayload(tx, clock(), WEBHOOK_TEST, payload, [id])
      await this.#record(tx, actor, 'tested', row)
      return deliveryRecord((await findDelivery(tx, id, messageId!))!)
    })
  }

  async deliveries(actor: WebhookActor, id: string, page: DeliveryPage): Promise<DeliveryRecord[]> {
    await this.#find(actor, id)
    return (await listDeliveries(this.#deps.database.db, id, page)).map(deliveryRecord)
  }

  /** Sends a message again, with the same id, as if it had just been queued. */
  redeliver(actor: WebhookActor, id: string, messageId: string): Promise<DeliveryRecord> {
    const { clock } = this.#deps
    return this.#alter(actor, id, async (tx, row) => {
      const delivery = isId('msg', messageId) ? await findDelivery(tx, id, messageId) : undefined
      if (!delivery) throw notFound('such delivery')
      requireRunning(row)
      const values = { state: 'waiting' as const, failures: 0, next_at: clock().toISOString() }
      await updateDelivery(tx, messageId, values)
      await endRest(tx, id)
      await this.#record(tx, actor, 'redelivered', row, { messageId })
      return deliveryRecord({ ...delivery, ...values })
    })
  }

  async #find({ organizationId }: WebhookActor, id: string): Promise<StoredWebhook> {
    const { db } = this.#deps.database
    const row = isId('whk', id) ? await findWebhook(db, organizationId, id) : undefined
    if (!row) throw notFound('such webhook')
    return row
  }

  #alter<T>(
    { organizationId }: WebhookActor,
    id: string,
    work: (tx: Tx, row: StoredWebhook) => Promise<T>,
  ): Promise<T> {
    const { database } = this.#deps
    return database.db.transaction().execute(async (tx) => {
      const row = isId('whk', id) ? await lockWebhook(database, tx, organizationId, id) : undefined
      if (!row) throw notFound('such webhook')
      return work(tx, row)
    })
  }

  /** Only the host is recorded: the rest of an address may be a secret of the receiver. */
  #record(
    tx: Tx,
    { origin, organizationId }: WebhookActor,
    verb: 'created' | 'changed' | 'rotated' | 'deleted' | 'tested' | 'redelivered',
    { id, url }: StoredWebhook,
    detail: Record<string, unknown> = {},
  ): Promise<void> {
    return recordEvent(tx, this.#deps.clock(), origin, {
      action: `webhook.${verb}`,
      organizationId,
      subject: `webhook:${id}`,
      detail: { host: new URL(url).host, ...detail },
    })
  }
}

function requireRunning({ paused_at }: StoredWebhook): void {
  if (paused_at !== null) throw new Problem('conflict', 'The webhook is paused. Let it go on first.')
}

async function webhookRecord(db: Db, row: StoredWebhook, now: Date): Promise<WebhookRecord> {
  const { previous_ends_at: endsAt } = row
  const failing = row.failing_since === null ? 'active' : 'failing'
  return {
    id: row.id,
    url: row.url,
    events: JSON.parse(row.events) as string[],
    description: row.description,
    status: row.paused_at === null ? failing : 'paused',
    failingSince: row.failing_since,
    pausedAt: row.paused_at,
    pauseReason: row.pause_reason,
    previousSecretEndsAt: endsAt !== null && Date.parse(endsAt) > now.getTime() ? endsAt : null,
    createdAt: row.created_at,
    ...(await readRecent(db, row.id)),
  }
}
