import { type Origin, recordEvent } from '../../../base/events/events.ts'
import { notFound } from '../../../base/problem.ts'
import { lockOrganizations } from '../../access/membership-store.ts'
import { addLedgerRow, lockBalance } from '../../credits/ledger-store.ts'
import type { ControlChange } from '../../organizations/organizations.ts'
import { putCustomer } from '../invoices/profile-store.ts'
import { beginPeriod, endPlanOf } from '../plans/plan-periods.ts'
import { reasonAgainstPlan } from '../plans/plan-upgrades.ts'
import type { Payment } from '../providers/payment-provider.ts'
import { readLapsedCredits } from './ledger-order-store.ts'
import { findOrder, lockOrder, type OrderRow, updateOrder } from './order-store.ts'

/** What a payment did to an order. */
export interface Booking {
  order: OrderRow
  /** What a mail is sent about; null if nothing changed that anybody has to know. */
  outcome: 'paid' | 'upgraded' | 'held' | 'refunded' | 'disputed' | 'restored' | 'cancelled' | null
  /** How much money was returned by it. */
  refunded?: number
}

/**
 * Brings an order and the ledger to what the provider says about its payment. The result depends on the state alone
 * and not on how often or in which order events arrive: an order is booked once, and of refunds and disputes only the
 * difference to what was withdrawn before. The ledger row, the order and the event are one transaction.
 */
export async function applyPayment(
  change: ControlChange,
  origin: Origin,
  orderId: string,
  payment: Payment,
): Promise<Booking> {
  const { database, tx } = change
  const unlocked = await findOrder(tx, orderId)
  if (!unlocked) throw notFound('such order')
  // First the organization, as everything does that changes a balance.
  const open = await lockOrganizations(database, tx, [unlocked.organization_id])
  const order = (await lockOrder(database, tx, orderId))!
  if (payment.status === 'cancelled') return cancelOpen(change, origin, order, 'It was not paid in time.')
  if (payment.status === 'open') return { order, outcome: null }
  if (order.paid_at === null) {
    const reason = reasonToHold(order, payment, open.size > 0) ?? (await reasonAgainstPlan(change, order))
    if (reason !== null) return hold(change, origin, order, payment, reason)
    return pay(change, origin, order, payment)
  }
  return withdraw(change, origin, order, payment)
}

/** Why a person has to look at a payment before it is booked; null if it is right. */
function reasonToHold(order: OrderRow, payment: Payment, isOpen: boolean): string | null {
  if (payment.currency !== order.currency)
    return `The payment is in ${payment.currency}, and the order in ${order.currency}.`
  if (payment.amount !== order.amount)
    return `The payment is ${payment.amount}, and the order ${order.amount} (${order.currency}, minor units).`
  return isOpen ? null : 'The organization was closed before the payment arrived.'
}

async function hold(
  { tx, at }: ControlChange,
  origin: Origin,
  order: OrderRow,
  payment: Payment,
  reason: string,
): Promise<Booking> {
  if (order.state === 'held' && order.reason === reason) return { order, outcome: null }
  const values = { state: 'held', reason, payment_reference: payment.reference } as const
  await updateOrder(tx, order.id, values)
  await recordOrderEvent(tx, at, origin, 'order.held', order, { reason })
  return { order: { ...order, ...values }, outcome: 'held' }
}

/** Books the order. Refunds that the provider knows already follow in the same transaction. */
async function pay(
  change: ControlChange,
  origin: Origin,
  order: OrderRow,
  payment: Payment,
): Promise<Booking> {
  const { tx, at } = change
  const values = {
    state: 'paid',
    reason: '',
    paid_at: at.toISOString(),
    payment_reference: payment.reference,
  } as const
  await updateOrder(tx, order.id, values)
  const paid = { ...order, ...values }
  if (payment.customerReference !== null) await putCustomer(tx, order, payment.customerReference)
  await beginPeriod(change, origin, paid, payment.subscriptionReference)
  await book(change, origin, order, { kind: 'purchase', credits: order.credits, money: order.amount })
  await recordOrderEvent(tx, at, origin, 'order.paid', order)
  const withdrawn = await withdraw(change, origin, paid, payment)
  const outcome = withdrawn.outcome ?? (order.upgrades_from === null ? 'paid' : 'upgraded')
  return { ...withdrawn, outcome }
}

/** Takes back credits for what was refunded or is disputed, or returns them if a dispute was won. */
async function withdraw(
  change: ControlChange,
  origin: Origin,
  order: OrderRow,
  payment: Payment,
): Promise<Booking> {
  const { tx, at } = change
  // A provider may tell about refunds in any order; money that was returned stays returned.
  const refunded = Math.min(order.amount, Math.max(order.refunded_amount, payment.refundedAmount))
  const isRefunded = refunded > 0 && refunded >= order.amount
  const state = isRefunded ? 'refunded' : payment.isDisputed ? 'held' : 'paid'
  const reason = state === 'held' ? 'The payer disputes the payment.' : ''
  const withdrawn = await creditsToWithdraw(change, order, refunded, state)
  const difference = withdrawn - order.withdrawn_credits
  const returned = refunded - order.refunded_amount
  if (difference === 0 && state === order.state && returned === 0) return { order, outcome: null }
  const values = { state, reason, refunded_amount: refunded, withdrawn_credits: withdrawn } as const
  await updateOrder(tx, order.id, values)
  if (difference !== 0 || returned > 0) {
    const kind = difference < 0 ? 'purchase' : 'reversal'
    await book(change, origin, order, { kind, credits: 0 - difference, money: 0 - returned })
  }
  const outcome = outcomeOf(order, state, refunded)
  await recordOrderEvent(tx, at, origin, `order.${outcome}`, order, { refunded, credits: -difference })
  if (isRefunded) await endPlanOf(change, origin, { ...order, ...values })
  return { order: { ...order, ...values }, outcome, refunded: returned }
}

/** A part of the money takes back the same part of the credits, rounded down. Credits that lapsed are gone already. */
async function creditsToWithdraw(
  { tx }: ControlChange,
  order: OrderRow,
  refunded: number,
  state: OrderRow['state'],
): Promise<number> {
  const share =
    state !== 'paid'
      ? order.credits
      : Number((BigInt(order.credits) * BigInt(refunded)) / BigInt(order.amount || 1))
  const lapsed = share === 0 ? 0 : await readLapsedCredits(tx, order.id)
  return Math.min(share, order.credits - lapsed)
}

function outcomeOf(before: OrderRow, state: OrderRow['state'], refunded: number) {
  if (state === 'held') return 'disputed'
  return refunded > before.refunded_amount || state === 'refunded' ? 'refunded' : 'restored'
}

/** Cancels an open order. One that was paid or is held stays as it is. */
export async function cancelOpen(
  { tx, at }: ControlChange,
  origin: Origin,
  order: OrderRow,
  reason: string,
): Promise<Booking> {
  if (order.state !== 'open') return { order, outcome: null }
  await updateOrder(tx, order.id, { state: 'cancelled', reason })
  await recordOrderEvent(tx, at, origin, 'order.cancelled', order, { reason })
  return { order: { ...order, state: 'cancelled', reason }, outcome: 'cancelled' }
}

/**
 * Also without credits, as for a plan of add-ons: every payment and every refund has a row. The balance may become
 * negative by a reversal: downloads stop then, and nothing else.
 */
async function book(
  { database, tx, at }: ControlChange,
  { actor }: Origin,
  { id, organization_id }: OrderRow,
  { kind, credits, money }: { kind: 'purchase' | 'reversal'; credits: number; money: number },
): Promise<void> {
  const before = await lockBalance(database, tx, organization_id)
  if (before === undefined) throw notFound('such organization')
  await addLedgerRow(tx, {
    organization_id,
    at: at.toISOString(),
    amount: credits,
    balance: before + credits,
    kind,
    actor,
    order_id: id,
    money,
  })
}

export async function recordOrderEvent(
  tx: ControlChange['tx'],
  at: Date,
  origin: Origin,
  action: string,
  { id, organization_id, amount, currency, credits, product_id }: OrderRow,
  detail: Record<string, unknown> = {},
): Promise<void> {
  await recordEvent(tx, at, origin, {
    action,
    organizationId: organization_id,
    subject: `order:${id}`,
    detail: { productId: product_id, amount, currency, credits, ...detail },
  })
}
