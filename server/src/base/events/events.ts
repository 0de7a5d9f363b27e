import type { Tx } from '../database/open.ts'
import { type Attempt, markCarriedOut } from './attempt-store.ts'
import type { AuditEvent } from './audit-event.ts'
import { queueNotice } from './notice-outbox-store.ts'
import { queueWebhooks } from './webhook-outbox-store.ts'

/** The origin of an action, recorded in every audit event. */
export interface Origin {
  /** `user:<id>`, `key:<id>`, `operator` (the command line) or `system`. */
  actor: string
  address: string | null
  requestId: string | null
  /** A request with an Idempotency-Key: the transaction of its change marks it as carried out. */
  attempt?: Attempt
}

/** A user, and the organization that they act for; null if they are in none. */
export interface Acting {
  userId: string
  organizationId: string | null
}

/** A signed-in user who calls. */
export interface UserOrigin extends Acting {
  origin: Origin
}

/** The same with the address that mails go to. */
export interface MailedUser extends UserOrigin {
  email: string
}

export const operator: Origin = { actor: 'operator', address: null, requestId: null }
export const system: Origin = { actor: 'system', address: null, requestId: null }

/**
 * Written in the same transaction as the action itself: both happen or neither. The same holds for the messages to
 * webhooks and the notices by mail, which are queued here and sent later (transactional outbox).
 */
export async function recordEvent(tx: Tx, at: Date, origin: Origin, event: AuditEvent): Promise<void> {
  if (origin.attempt) await markCarriedOut(tx, origin.attempt, event.subject)
  await tx
    .insertInto('events')
    .values({
      at: at.toISOString(),
      organization_id: event.organizationId,
      actor: origin.actor,
      action: event.action,
      subject: event.subject,
      detail: JSON.stringify(event.detail ?? {}),
      address: origin.address,
      request_id: origin.requestId,
    })
    .execute()
  await queueWebhooks(tx, at, event)
  await queueNotice(tx, at, event)
}
