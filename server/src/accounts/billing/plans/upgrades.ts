import type { PlanUpgrade, Product, StartedCheckout } from '@wayleave/contract/records'
import type { Clock } from '../../../base/clock.ts'
import type { ControlDatabase } from '../../../base/database/open.ts'
import type { Acting, MailedUser } from '../../../base/events/events.ts'
import { notFound, Problem } from '../../../base/problem.ts'
import { requireMember } from '../../access/membership.ts'
import { readPeriodOrders } from '../orders/order-store.ts'
import type { Orders } from '../orders/orders.ts'
import { findRevision, readProducts } from '../products/product-store.ts'
import { requireProduct } from '../products/products.ts'
import { currentOrder, type Proration, prorate } from './plan-upgrades.ts'
import { findCurrentSubscription, type SubscriptionRow } from './subscription-store.ts'

export interface UpgradesOptions {
  database: ControlDatabase
  clock: Clock
  orders: Orders
}

interface CurrentPlan {
  row: SubscriptionRow
  product: Product
}

/** A larger plan in the middle of a period: an order for the rest of it. The period and its end stay. */
export class Upgrades {
  readonly #options: UpgradesOptions

  constructor(options: UpgradesOptions) {
    this.#options = options
  }

  /** Needs BILLING_VIEW. What each larger plan costs now. */
  async list(caller: Acting, organizationId: string): Promise<PlanUpgrade[]> {
    const { database, clock } = this.#options
    const { db } = database
    await requireMember(db, caller, organizationId, 'BILLING_VIEW')
    const plan = await this.#planOf(organizationId)
    const larger = (await readProducts(db, { isSold: true })).filter(
      (product) => reasonAgainst(plan, product, clock()) === null,
    )
    return larger.map((product) => ({
      productId: product.id,
      currency: product.currency,
      ...this.#prorate(plan, product),
    }))
  }

  /** Needs BILLING_MANAGE. The larger plan holds when the order is paid. */
  async order(
    caller: MailedUser,
    organizationId: string,
    { productId, returnPath }: { productId: string; returnPath?: string },
  ): Promise<StartedCheckout> {
    const { database, orders, clock } = this.#options
    const { db } = database
    await requireMember(db, caller, organizationId, 'BILLING_MANAGE')
    const plan = await this.#planOf(organizationId)
    const product = await requireProduct(db, productId)
    const reason = reasonAgainst(plan, product, clock())
    if (reason !== null) throw new Problem('conflict', reason)
    const { row } = plan
    const from = currentOrder(await db.transaction().execute((tx) => readPeriodOrders(tx, row)))
    if (!from) throw new Problem('conflict', 'The period of the plan is not paid.')
    return orders.place(caller, organizationId, {
      provider: orders.providerOf(row.provider),
      product,
      quantity: 1,
      ...this.#prorate(plan, product),
      returnPath,
      upgrade: {
        subscriptionId: row.id,
        from: from.id,
        periodStart: clock().toISOString(),
        periodEnd: row.period_end,
      },
    })
  }

  async #planOf(organizationId: string): Promise<CurrentPlan> {
    const { db } = this.#options.database
    const row = await findCurrentSubscription(db, organizationId)
    if (!row) throw notFound('plan of this organization')
    return { row, product: await findRevision(db, row.product_id, row.revision) }
  }

  #prorate({ row, product }: CurrentPlan, next: Product): Proration {
    const [start, end] = [Date.parse(row.period_start), Date.parse(row.period_end)]
    return prorate(product, next, { start, end, now: this.#options.clock().getTime() })
  }
}

/** Why the plan cannot be upgraded to the product now; null if it can. */
function reasonAgainst({ row, product }: CurrentPlan, next: Product, now: Date): string | null {
  // In the minutes before a renewal is booked, nothing is left of the period, and an upgrade would cost nothing.
  if (row.state !== 'active' || row.period_end <= now.toISOString())
    return 'The payment for the current period is missing.'
  if (row.cancels_at_end === 1) return 'The plan is cancelled. Withdraw the cancellation first.'
  if (next.kind !== 'plan' || next.retiredAt !== null) return 'The product is not a plan that is sold.'
  if (next.period !== product.period || next.currency !== product.currency)
    return 'An upgrade has the same period and currency. Another plan can follow at the end of the period.'
  if (next.price <= product.price)
    return 'An upgrade is a plan with a higher price. Another plan can follow at the end of the period.'
  return null
}
