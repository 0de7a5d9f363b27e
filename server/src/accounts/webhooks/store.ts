import type { DeliveryAttempt, DeliveryRecord, WebhookRecord } from '@wayleave/contract/records'
import { sql } from 'kysely'
import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type StoredWebhook = Tables['webhooks']
export type StoredDelivery = Tables['webhook_deliveries']

/** Null for the platform. */
type OwnerId = string | null

export async function insertWebhook(tx: Tx, webhook: StoredWebhook): Promise<void> {
  await tx.insertInto('webhooks').values(webhook).execute()
}

export function listWebhooks(db: Db, ownerId: OwnerId): Promise<StoredWebhook[]> {
  return ofOwner(db, ownerId).orderBy('created_at').orderBy('id').execute()
}

export function findWebhook(db: Db, ownerId: OwnerId, id: string): Promise<StoredWebhook | undefined> {
  return ofOwner(db, ownerId).where('id', '=', id).executeTakeFirst()
}

/** Undefined if there is no such webhook. */
export async function findOwner(db: Db, id: string): Promise<OwnerId | undefined> {
  const row = await db
    .selectFrom('webhooks')
    .select('organization_id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.organization_id
}

export function lockWebhook(
  database: ControlDatabase,
  tx: Tx,
  ownerId: OwnerId,
  id: string,
): Promise<StoredWebhook | undefined> {
  return database.forUpdate(ofOwner(tx, ownerId).where('id', '=', id)).executeTakeFirst()
}

export async function updateWebhook(tx: Tx, id: string, values: Partial<StoredWebhook>): Promise<void> {
  await tx.updateTable('webhooks').set(values).where('id', '=', id).execute()
}

export async function deleteWebhook(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('webhooks').where('id', '=', id).execute()
}

export interface DeliveryPage {
  limit: number
  /** The id of the last one of the page before. */
  after?: string | undefined
  state?: StoredDelivery['state'] | undefined
}

/** The messages to a webhook, newest first. */
export function listDeliveries(
  db: Db,
  webhookId: string,
  { limit, after, state }: DeliveryPage,
): Promise<StoredDelivery[]> {
  let query = db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (state !== undefined) query = query.where('state', '=', state)
  if (after !== undefined) {
    const last = db
      .selectFrom('webhook_deliveries')
      .where('id', '=', after)
      .where('webhook_id', '=', webhookId)
    query = query.where((row) =>
      row.or([
        row('created_at', '<', last.select('created_at')),
        row.and([row('created_at', '=', last.select('created_at')), row('id', '<', after)]),
      ]),
    )
  }
  return query.execute()
}

/** The messages that a list of webhooks tells of. */
const RECENT = 30

/** How the last messages to a webhook went, and the last attempt among them. */
export async function readRecent(
  db: Db,
  webhookId: string,
): Promise<Pick<WebhookRecord, 'recent' | 'lastAttempt'>> {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select(['state', 'failures', 'attempts'])
    .where('webhook_id', '=', webhookId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(RECENT)
    .execute()
  const last = rows.flatMap(({ attempts }) => (JSON.parse(attempts) as DeliveryAttempt[]).slice(-1))
  return {
    recent: rows.map(({ state, failures }) => (state === 'waiting' && failures > 0 ? 'failed' : state)),
    lastAttempt: last.reduce<DeliveryAttempt | null>(
      (newest, one) => (newest === null || one.at > newest.at ? one : newest),
      null,
    ),
  }
}

export function findDelivery(db: Db, webhookId: string, id: string): Promise<StoredDelivery | undefined> {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', webhookId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export async function updateDelivery(tx: Tx, id: string, values: Partial<StoredDelivery>): Promise<void> {
  await tx.updateTable('webhook_deliveries').set(values).where('id', '=', id).execute()
}

/** What waits for a webhook is not sent by itself any more. */
export async function failWaiting(tx: Tx, webhookId: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ state: 'failed', next_at: null })
    .where('webhook_id', '=', webhookId)
    .where('state', '=', 'waiting')
    .execute()
}

export interface DueWebhook {
  id: string
  /** The organization that it belongs to; empty for the platform. */
  owner: string
  isFailing: boolean
}

/**
 * Webhooks that have messages to send now and that no process sends for; those that work first, otherwise by chance,
 * so that none always waits for the same others.
 */
export async function readDueWebhooks(
  database: ControlDatabase,
  now: string,
  limit: number,
): Promise<DueWebhook[]> {
  const { db } = database
  const due = await db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('state', '=', 'waiting')
    .where('next_at', '<=', now)
    .limit(1)
    .executeTakeFirst()
  if (!due) return []
  const rows = await db
    .selectFrom('webhooks')
    .select(['id', 'organization_id', 'failing_since'])
    .where('paused_at', 'is', null)
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<', database.time())]))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('webhook_deliveries')
          .select('webhook_deliveries.id')
          .whereRef('webhook_deliveries.webhook_id', '=', 'webhooks.id')
          .where('state', '=', 'waiting')
          .where('next_at', '<=', now),
      ),
    )
    .orderBy(sql`failing_since is not null`)
    .orderBy(sql`random()`)
    .limit(limit)
    .execute()
  return rows.map(({ id, organization_id, failing_since }) => ({
    id,
    owner: organization_id ?? '',
    isFailing: failing_since !== null,
  }))
}

/** Takes the lease of a webhook, unless another process holds it. */
export async function takeLease(
  database: ControlDatabase,
  id: string,
  token: string,
  ms: number,
): Promise<boolean> {
  const { numUpdatedRows } = await database.db
    .updateTable('webhooks')
    .set({ lease_token: token, lease_until: database.time(ms) })
    .where('id', '=', id)
    .where((row) => row.or([row('lease_until', 'is', null), row('lease_until', '<', database.time())]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Extends the lease; false if another process has it. */
export async function renewLease(
  database: ControlDatabase,
  id: string,
  token: string,
  ms: number,
): Promise<boolean> {
  const { numUpdatedRows } = await database.db
    .updateTable('webhooks')
    .set({ lease_until: database.time(ms) })
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends the lease so that no node takes it again for `restMs`. */
export async function endLease(
  database: ControlDatabase,
  id: string,
  token: string,
  restMs: number,
): Promise<void> {
  await database.db
    .updateTable('webhooks')
    .set({ lease_token: null, lease_until: restMs === 0 ? null : database.time(restMs) })
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .execute()
}

/** A member wants something to be sent now: the pause after a failure ends, unless a process is sending. */
export async function endRest(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('webhooks')
    .set({ lease_until: null })
    .where('id', '=', id)
    .where('lease_token', 'is', null)
    .execute()
}

export async function endAllLeases(db: Db): Promise<void> {
  await db
    .updateTable('webhooks')
    .set({ lease_token: null, lease_until: null })
    .where('lease_until', 'is not', null)
    .execute()
}

/** The message that is due first, with its webhook. */
export async function readNextMessage(
  db: Db,
  webhookId: string,
  now: string,
): Promise<{ webhook: StoredWebhook; delivery: StoredDelivery } | null> {
  const webhook = await db
    .selectFrom('webhooks')
    .selectAll()
    .where('id', '=', webhookId)
    .where('paused_at', 'is', null)
    .executeTakeFirst()
  const delivery =
    webhook &&
    (await db
      .selectFrom('webhook_deliveries')
      .selectAll()
      .where('webhook_id', '=', webhookId)
      .where('state', '=', 'waiting')
      .where('next_at', '<=', now)
      .orderBy('next_at')
      .orderBy('created_at')
      .limit(1)
      .executeTakeFirst())
  return webhook && delivery ? { webhook, delivery } : null
}

export async function deleteDeliveriesBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'webhook_deliveries', (row) =>
    row.and([row('created_at', '<', at), row('state', '<>', 'waiting')]),
  )
}

export function deliveryRecord(row: StoredDelivery): DeliveryRecord {
  return {
    id: row.id,
    type: row.type,
    payload: row.payload,
    state: row.state,
    createdAt: row.created_at,
    nextAttemptAt: row.next_at,
    attempts: JSON.parse(row.attempts) as DeliveryRecord['attempts'],
  }
}

function ofOwner(db: Db, ownerId: OwnerId) {
  const webhooks = db.selectFrom('webhooks').selectAll()
  return ownerId === null
    ? webhooks.where('organization_id', 'is', null)
    : webhooks.where('organization_id', '=', ownerId)
}
