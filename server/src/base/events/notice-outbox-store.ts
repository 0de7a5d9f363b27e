import type { Notice } from '@wayleave/contract/webhook-events'
import type { Tx } from '../database/open.ts'
import { newId } from '../id.ts'
import type { AuditEvent } from './audit-event.ts'

/** The audit events of which somebody gets a mail. */
const NOTICE_OF: Readonly<Record<string, Notice>> = {
  'key.expiring': 'key-expiring',
  'credits.low': 'credits-low',
  'credits.exhausted': 'credits-low',
  'dataset.published': 'dataset-version',
  'dataset.released': 'dataset-version',
  'dataset.rolled-back': 'dataset-version',
  'webhook.paused': 'webhook-paused',
  'access.requested': 'access-requested',
}

/** Puts a notice into the outbox; who gets it is decided when it is sent. */
export async function queueNotice(tx: Tx, at: Date, event: AuditEvent): Promise<void> {
  const notice = NOTICE_OF[event.action]
  if (notice === undefined || (notice === 'dataset-version' && event.detail?.['version'] === 1)) return
  const { subject, detail = {} } = event
  await tx
    .insertInto('notices')
    .values({
      id: newId('ntc'),
      notice,
      // A dataset is told to the organizations that have bought it.
      organization_id: notice === 'dataset-version' ? null : event.organizationId,
      detail: JSON.stringify({ ...detail, action: event.action, subject }),
      created_at: at.toISOString(),
      lease_until: null,
    })
    .execute()
}

/** What a mail about billing says. Names are read when it is sent. */
export type BillingNotice =
  | { kind: OrderNotice; orderId: string; amount: string; credits: number }
  /** For the operator. */
  | { kind: 'alert'; orderId: string; amount: string; credits: number; reason: string }
  | { kind: 'payment-failed'; graceUntil: string }
  | { kind: 'plan-ended' }
  | { kind: 'key-budget'; keyId: string; percent: number }
  | { kind: 'member-budget'; userId: string; percent: number }

type OrderNotice =
  | 'paid'
  | 'refunded'
  | 'disputed'
  | 'restored'
  | 'cancelled'
  | 'reminder'
  | 'renewal'
  | 'upgraded'

/** Puts a mail about billing into the outbox, in the transaction of what it tells. It cannot be switched off. */
export async function queueBillingNotice(
  tx: Tx,
  at: Date,
  organizationId: string,
  notice: BillingNotice,
): Promise<void> {
  await tx
    .insertInto('notices')
    .values({
      id: newId('ntc'),
      notice: 'billing',
      organization_id: organizationId,
      detail: JSON.stringify(notice),
      created_at: at.toISOString(),
      lease_until: null,
    })
    .execute()
}
