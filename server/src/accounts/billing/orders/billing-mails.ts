import type { Tx } from '../../../base/database/open.ts'
import { queueBillingNotice } from '../../../base/events/notice-outbox-store.ts'
import { moneyText } from '../products/money.ts'
import type { Booking } from './order-books.ts'
import type { OrderRow } from './order-store.ts'

/** Queues the mails about what happened to an order: to the members who may buy, and alerts to the operator. */
export async function tellOutcome(tx: Tx, at: Date, { order, outcome }: Booking): Promise<void> {
  if (outcome === null) return
  const { organization_id, reason } = order
  if (outcome === 'held' || outcome === 'disputed')
    await queueBillingNotice(tx, at, organization_id, { kind: 'alert', ...factsOf(order), reason })
  if (outcome !== 'held') await tellAbout(tx, at, order, outcome)
}

/** Sends a mail to the members with BILLING_MANAGE. */
export async function tellAbout(
  tx: Tx,
  at: Date,
  order: OrderRow,
  kind: 'reminder' | 'renewal' | Exclude<Booking['outcome'], 'held' | null>,
): Promise<void> {
  await queueBillingNotice(tx, at, order.organization_id, { kind, ...factsOf(order) })
}

function factsOf({ id, amount, currency, credits }: OrderRow) {
  return { orderId: id, amount: moneyText(amount, currency), credits }
}
