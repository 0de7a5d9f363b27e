import type { PlanPeriod } from '@wayleave/contract/billing-states'
import type { Product } from '@wayleave/contract/records'
import type { Origin } from '../../../base/events/events.ts'
import { newId } from '../../../base/id.ts'
import { addLedgerRow, lockBalance } from '../../credits/ledger-store.ts'
import type { ControlChange } from '../../organizations/organizations.ts'
import { readLapsedCredits, readSpentSince } from '../orders/ledger-order-store.ts'
import { type OrderRow, readPeriodOrders, updateOrder } from '../orders/order-store.ts'
import { findRevision } from '../products/product-store.ts'
import { grantAddOns, removeAddOns, setPlanProduct } from './plan-add-ons.ts'
import { recordPlanEvent } from './plan-events.ts'
import { revertUpgrade, upgradePlan } from './plan-upgrades.ts'
import {
  findCurrentSubscription,
  insertSubscription,
  lockSubscription,
  type SubscriptionRow,
  updateSubscription,
} from './subscription-store.ts'

/**
 * The time so many periods after the anchor. A day that a month lacks becomes its last day, and later months are not
 * affected: January 31, February 28, March 31.
 */
export function periodEnd(anchor: Date, period: PlanPeriod, periods: number): Date {
  const months = period === 'year' ? 12 * periods : periods
  const end = new Date(anchor)
  end.setUTCDate(1)
  end.setUTCMonth(end.getUTCMonth() + months)
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate()
  end.setUTCDate(Math.min(anchor.getUTCDate(), lastDay))
  return end
}

/**
 * Begins the period that a paid order is for: the first one of a plan, or the next one. Credits of the period before
 * lapse first, unless the plan keeps them. Does nothing for a pack.
 */
export async function beginPeriod(
  change: ControlChange,
  origin: Origin,
  order: OrderRow,
  subscriptionReference: string | null,
): Promise<void> {
  const product = await findRevision(change.tx, order.product_id, order.revision)
  if (product.kind === 'pack') return
  const subscription =
    order.subscription_id === null
      ? undefined
      : await lockSubscription(change.database, change.tx, order.subscription_id)
  if (!subscription) return startPlan(change, origin, order, product, subscriptionReference)
  // It was checked before that the plan lasts.
  if (order.upgrades_from !== null) return upgradePlan(change, origin, subscription, product)
  return renewPeriod(change, origin, subscription, order, product)
}

async function startPlan(
  change: ControlChange,
  origin: Origin,
  order: OrderRow,
  product: Product,
  reference: string | null,
): Promise<void> {
  const { tx, at } = change
  // An organization has one plan: a second payment, made in another window, replaces the first one.
  const former = await findCurrentSubscription(tx, order.organization_id)
  if (former) await endPlan(change, origin, former, 'replaced')
  const id = newId('sub')
  const period_start = at.toISOString()
  const period_end = periodEnd(at, product.period!, 1).toISOString()
  const granted_add_ons = JSON.stringify(await grantAddOns(change, origin, order.organization_id, product))
  await insertSubscription(tx, {
    id,
    organization_id: order.organization_id,
    product_id: product.id,
    revision: product.revision,
    provider: order.provider,
    reference,
    state: 'active',
    anchor: period_start,
    periods: 1,
    period_start,
    period_end,
    cancels_at_end: 0,
    next_product_id: null,
    next_revision: null,
    granted_add_ons,
    credit_order_id: order.id,
    grace_until: null,
    created_at: period_start,
    ended_at: null,
  })
  await updateOrder(tx, order.id, { subscription_id: id, period_start, period_end })
  await recordPlanEvent(change, origin, 'plan.started', order.organization_id, id, {
    productId: product.id,
    periodEnd: period_end,
  })
}

async function renewPeriod(
  change: ControlChange,
  origin: Origin,
  subscription: SubscriptionRow,
  order: OrderRow,
  product: Product,
): Promise<void> {
  const { tx } = change
  await lapseCredits(change, origin, subscription)
  const granted_add_ons = await setPlanProduct(change, origin, subscription, product)
  const period_start = order.period_start ?? subscription.period_end
  const isNewPeriod =
    product.period !== (await findRevision(tx, subscription.product_id, subscription.revision)).period
  const anchor = isNewPeriod ? period_start : subscription.anchor
  const periods = isNewPeriod ? 1 : subscription.periods + 1
  const period_end = order.period_end ?? periodEnd(new Date(anchor), product.period!, periods).toISOString()
  await updateSubscription(tx, subscription.id, {
    product_id: product.id,
    revision: product.revision,
    state: 'active',
    anchor,
    periods,
    period_start,
    period_end,
    // A change that was made after the renewal was ordered holds for the period after it.
    ...(product.id === subscription.next_product_id && { next_product_id: null, next_revision: null }),
    granted_add_ons,
    credit_order_id: order.id,
    grace_until: null,
  })
  await updateOrder(tx, order.id, { period_start, period_end })
  await recordPlanEvent(change, origin, 'plan.renewed', order.organization_id, subscription.id, {
    productId: product.id,
    periodEnd: period_end,
  })
}

/** Ends a plan: what is left of its credits lapses, unless it keeps them, and its add-ons are removed. */
export async function endPlan(
  change: ControlChange,
  origin: Origin,
  subscription: SubscriptionRow,
  reason: 'cancelled' | 'unpaid' | 'refunded' | 'replaced' | 'closed',
): Promise<void> {
  const { tx, at } = change
  const { id, organization_id } = subscription
  await lapseCredits(change, origin, subscription)
  await removeAddOns(change, origin, subscription, [])
  // The provider is told after the commit, and again until that succeeds.
  const to_cancel = subscription.reference === null ? 0 : 1
  await updateSubscription(tx, id, {
    state: 'ended',
    ended_at: at.toISOString(),
    grace_until: null,
    to_cancel,
  })
  await recordPlanEvent(change, origin, 'plan.ended', organization_id, id, { reason })
}

/** An organization that is closed has no plan. */
export async function endPlanOfOrganization(
  change: ControlChange,
  origin: Origin,
  organizationId: string,
): Promise<void> {
  const current = await findCurrentSubscription(change.tx, organizationId)
  const subscription = current && (await lockSubscription(change.database, change.tx, current.id))
  if (subscription && subscription.state !== 'ended') await endPlan(change, origin, subscription, 'closed')
}

/** Ends the plan whose current period a refunded order paid for, or takes back the upgrade that it was. */
export async function endPlanOf(change: ControlChange, origin: Origin, order: OrderRow): Promise<void> {
  if (order.subscription_id === null) return
  const subscription = await lockSubscription(change.database, change.tx, order.subscription_id)
  if (!subscription || subscription.state === 'ended') return
  if (subscription.credit_order_id === order.id) await endPlan(change, origin, subscription, 'refunded')
  else if (order.upgrades_from !== null && order.period_end === subscription.period_end)
    await revertUpgrade(change, origin, subscription)
}

/** Credits of the period are spent before all others, the oldest first; what is left of them lapses. */
async function lapseCredits(
  { database, tx, at }: ControlChange,
  { actor }: Origin,
  subscription: SubscriptionRow,
): Promise<void> {
  const { organization_id, product_id, revision, credit_order_id } = subscription
  if (credit_order_id === null) return
  const { keepsCredits } = await findRevision(tx, product_id, revision)
  if (keepsCredits) return
  let balance = await lockBalance(database, tx, organization_id)
  if (balance === undefined || balance <= 0) return
  const granted: { id: string; credits: number }[] = []
  for (const { id, credits, withdrawn_credits } of await readPeriodOrders(tx, subscription))
    granted.push({ id, credits: credits - withdrawn_credits - (await readLapsedCredits(tx, id)) })
  const sum = granted.reduce((total, { credits }) => total + credits, 0)
  let left = Math.min(sum - (await readSpentSince(tx, organization_id, credit_order_id)), balance)
  for (const { id, credits } of granted.reverse()) {
    const lapsed = Math.min(left, credits)
    if (lapsed <= 0) continue
    left -= lapsed
    balance -= lapsed
    await addLedgerRow(tx, {
      organization_id,
      at: at.toISOString(),
      amount: -lapsed,
      balance,
      kind: 'lapse',
      actor,
      order_id: id,
    })
  }
}
