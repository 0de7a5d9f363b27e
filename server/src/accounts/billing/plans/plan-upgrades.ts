import type { Product } from '@wayleave/contract/records'
import type { Origin } from '../../../base/events/events.ts'
import type { ControlChange } from '../../organizations/organizations.ts'
import { type OrderRow, readPeriodOrders } from '../orders/order-store.ts'
import { findRevision } from '../products/product-store.ts'
import { setPlanProduct } from './plan-add-ons.ts'
import { recordPlanEvent } from './plan-events.ts'
import { lockSubscription, type SubscriptionRow, updateSubscription } from './subscription-store.ts'

/** What an upgrade costs, and the credits that it brings. */
export interface Proration {
  amount: number
  credits: number
}

/**
 * The difference of the prices and of the credits for the part of the period that is left, rounded half up to whole
 * minor units and credits.
 */
export function prorate(
  current: Pick<Product, 'price' | 'credits'>,
  next: Pick<Product, 'price' | 'credits'>,
  { start, end, now }: { start: number; end: number; now: number },
): Proration {
  const length = BigInt(Math.max(1, end - start))
  const left = BigInt(Math.min(end - start, Math.max(0, end - now)))
  const price = BigInt(next.price - current.price)
  const credits = BigInt(Math.max(0, next.credits - current.credits))
  const partOf = (value: bigint) => Number((2n * value * left + length) / (2n * length))
  return { amount: partOf(price), credits: partOf(credits) }
}

/** The order by which the plan holds now: the newest one of the period that was not refunded. */
export function currentOrder(orders: readonly OrderRow[]): OrderRow | undefined {
  return orders.findLast(({ state }) => state !== 'refunded')
}

/** Why a payment for a plan that lasts has to wait for a person; null if it can be booked. */
export async function reasonAgainstPlan(
  { database, tx }: ControlChange,
  { upgrades_from, subscription_id, period_end }: OrderRow,
): Promise<string | null> {
  if (subscription_id === null) return null
  const plan = await lockSubscription(database, tx, subscription_id)
  if (!plan || plan.state === 'ended') return 'The plan ended before the payment arrived.'
  if (upgrades_from === null) return null
  if (plan.period_end !== period_end) return 'The plan was renewed before the upgrade was paid.'
  const orders = await readPeriodOrders(tx, plan)
  return currentOrder(orders)?.id === upgrades_from
    ? null
    : 'The plan was changed before the upgrade was paid.'
}

/** The larger plan holds from now on, for the same period. */
export async function upgradePlan(
  change: ControlChange,
  origin: Origin,
  subscription: SubscriptionRow,
  product: Product,
): Promise<void> {
  await replacePlan(change, origin, subscription, product, 'plan.upgraded')
}

/** An upgrade was refunded: the plan before it holds again. */
export async function revertUpgrade(
  change: ControlChange,
  origin: Origin,
  subscription: SubscriptionRow,
): Promise<void> {
  const former = currentOrder(await readPeriodOrders(change.tx, subscription))
  if (!former || former.product_id === subscription.product_id) return
  const product = await findRevision(change.tx, former.product_id, former.revision)
  await replacePlan(change, origin, subscription, product, 'plan.reverted')
}

async function replacePlan(
  change: ControlChange,
  origin: Origin,
  subscription: SubscriptionRow,
  product: Product,
  action: 'plan.upgraded' | 'plan.reverted',
): Promise<void> {
  const { id, organization_id, reference, period_end } = subscription
  const granted_add_ons = await setPlanProduct(change, origin, subscription, product)
  await updateSubscription(change.tx, id, {
    product_id: product.id,
    revision: product.revision,
    next_product_id: null,
    next_revision: null,
    granted_add_ons,
    // The provider is told after the commit, and again until that succeeds.
    to_reprice: reference === null ? 0 : 1,
  })
  const detail = { productId: product.id, from: subscription.product_id, periodEnd: period_end }
  await recordPlanEvent(change, origin, action, organization_id, id, detail)
}
