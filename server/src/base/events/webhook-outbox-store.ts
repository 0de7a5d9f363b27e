import type { WebhookEvent } from '@wayleave/contract/webhook-events'
import type { Tx } from '../database/open.ts'
import { newId } from '../id.ts'
import type { Audience, AuditEvent } from './audit-event.ts'

interface Message {
  type: WebhookEvent
  /** What of the audit event's detail is sent. */
  fields: readonly string[]
}

const KEY = ['name', 'scope'] as const

/** The audit events that webhooks are told, and what they are called there. */
const MESSAGES: Readonly<Record<string, Message>> = {
  'key.created': { type: 'key.created', fields: [...KEY, 'permissions', 'expiresAt'] },
  'key.rotated': { type: 'key.rotated', fields: [...KEY, 'prefix', 'previousEndsAt'] },
  'key.revoked': { type: 'key.revoked', fields: [...KEY, 'reason'] },
  'key.deleted': { type: 'key.deleted', fields: KEY },
  'key.expiring': { type: 'key.expiring', fields: [...KEY, 'expiresAt', 'days'] },
  'key.expired': { type: 'key.expired', fields: [...KEY, 'expiresAt'] },
  'credits.low': { type: 'credits.low', fields: ['balance', 'limit'] },
  'credits.exhausted': { type: 'credits.exhausted', fields: ['balance'] },
  'dataset.published': { type: 'dataset.published', fields: ['version', 'rows'] },
  // A draft is told when it is released.
  'dataset.released': { type: 'dataset.published', fields: ['version'] },
  'dataset.rolled-back': { type: 'dataset.published', fields: ['version'] },
  'dataset.described': { type: 'dataset.changed', fields: ['title', 'visibility', 'credits'] },
  'dataset.unpublished': { type: 'dataset.unpublished', fields: [] },
  'source.failed': { type: 'source.failed', fields: ['problem', 'failures'] },
  'member.added': { type: 'member.added', fields: ['permissions'] },
  'member.changed': { type: 'member.changed', fields: ['permissions'] },
  'member.removed': { type: 'member.removed', fields: [] },
  'member.left': { type: 'member.left', fields: [] },
  'dataset.access-given': { type: 'grant.given', fields: ['access', 'credits', 'expiresAt'] },
  'dataset.access-ended': { type: 'grant.ended', fields: [] },
}

const ID_FIELDS: Readonly<Record<string, string>> = { key: 'keyId', user: 'userId', dataset: 'table' }
/** Rows of one statement. */
const STEP = 200

/** Puts a message for each webhook that wants it into the outbox. */
export async function queueWebhooks(tx: Tx, at: Date, event: AuditEvent): Promise<void> {
  const message = MESSAGES[event.action]
  if (!message) return
  const webhooks = await receivers(tx, message.type, await audienceOf(tx, at, event, message))
  if (webhooks.length === 0) return
  const payload = payloadOf(message.type, at, dataOf(event, message))
  await queuePayload(tx, at, message.type, payload, webhooks)
}

/** The organizations for which the dataset exists now, as `accounts/access/dataset-access.ts` decides it for keys. */
export async function datasetAudience(tx: Tx, table: string, at: Date): Promise<Audience> {
  const dataset = await tx
    .selectFrom('datasets')
    .select(['visibility', 'owner_id'])
    .where('table_name', '=', table)
    .executeTakeFirst()
  if (dataset?.visibility === 'public' || dataset?.visibility === 'open') return 'everyone'
  const granted =
    dataset?.visibility === 'private'
      ? await tx
          .selectFrom('dataset_grants')
          .select('organization_id')
          .where('table_name', '=', table)
          .where((row) => row.or([row('expires_at', 'is', null), row('expires_at', '>', at.toISOString())]))
          .execute()
      : []
  const owner = dataset?.owner_id ?? null
  return [...granted.map((row) => row.organization_id), ...(owner === null ? [] : [owner])]
}

/** The body of a message. Its form is that of the Standard Webhooks specification. */
export function payloadOf(type: string, at: Date, data: object): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data })
}

/** Returns the ids of the messages. */
export async function queuePayload(
  tx: Tx,
  at: Date,
  type: string,
  payload: string,
  webhookIds: readonly string[],
): Promise<string[]> {
  const now = at.toISOString()
  const rows = webhookIds.map((webhook_id) => ({
    id: newId('msg'),
    webhook_id,
    type,
    payload,
    state: 'waiting' as const,
    attempts: '[]',
    failures: 0,
    next_at: now,
    created_at: now,
  }))
  for (let from = 0; from < rows.length; from += STEP) {
    await tx
      .insertInto('webhook_deliveries')
      .values(rows.slice(from, from + STEP))
      .execute()
  }
  return rows.map(({ id }) => id)
}

async function audienceOf(tx: Tx, at: Date, event: AuditEvent, { type }: Message): Promise<Audience> {
  if (event.audience !== undefined) return event.audience
  if (type.startsWith('dataset.')) return datasetAudience(tx, event.subject.slice('dataset:'.length), at)
  return event.organizationId === null ? [] : [event.organizationId]
}

/** The webhooks of the platform and of the audience that want messages of this type now. */
async function receivers(tx: Tx, type: WebhookEvent, audience: Audience): Promise<string[]> {
  const rows = await tx
    .selectFrom('webhooks')
    .leftJoin('organizations', 'organizations.id', 'webhooks.organization_id')
    .select('webhooks.id')
    .where('webhooks.paused_at', 'is', null)
    .where('webhooks.events', 'like', `%"${type}"%`)
    .where('organizations.closed_at', 'is', null)
    .where('organizations.suspended_at', 'is', null)
    .$if(audience !== 'everyone', (query) =>
      query.where((row) =>
        row.or([
          row('webhooks.organization_id', 'is', null),
          // A list of SQL is never empty.
          row('webhooks.organization_id', 'in', ['', ...audience]),
        ]),
      ),
    )
    .execute()
  return rows.map(({ id }) => id)
}

function dataOf({ subject, organizationId, detail = {} }: AuditEvent, { type, fields }: Message): object {
  const colon = subject.indexOf(':')
  const idField = ID_FIELDS[subject.slice(0, colon)]
  return {
    // Others than the publisher are told of a dataset.
    ...(organizationId === null || type.startsWith('dataset.') ? {} : { organizationId }),
    ...(idField === undefined ? {} : { [idField]: subject.slice(colon + 1) }),
    ...Object.fromEntries(
      fields.filter((field) => detail[field] !== undefined).map((field) => [field, detail[field]]),
    ),
  }
}
