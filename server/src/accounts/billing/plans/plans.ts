import type { AddOn } from '@wayleave/contract/add-ons'
import type { Product, SubscriptionRecord } from '@wayleave/contract/records'
import { type Clock, DAY, plus } from '../../../base/clock.ts'
import type { Changes } from '../../../base/database/changes/changes.ts'
import { type ControlDatabase, type Db, isUniqueViolation, type Tx } from '../../../base/database/open.ts'
import { type Acting, recordEvent, system, type UserOrigin } from '../../../base/events/events.ts'
import { queueBillingNotice } from '../../../base/events/notice-outbox-store.ts'
import { newId } from '../../../base/id.ts'
import { invalidInput, notFound, Problem } from '../../../base/problem.ts'
import { requireMember } from '../../access/membership.ts'
import { lockOrganizations } from '../../access/membership-store.ts'
import type { ControlChange } from '../../organizations/organizations.ts'
import { tellAbout } from '../orders/billing-mails.ts'
import { findOrderByReference, insertPaymentEvent, lockOrder, type OrderRow } from '../orders/order-store.ts'
import type { Orders } from '../orders/orders.ts'
import { findRevision } from '../products/product-store.ts'
import { requireProduct } from '../products/products.ts'
import type { Payment, PaymentProvider } from '../providers/payment-provider.ts'
import { endPlan, periodEnd } from './plan-periods.ts'
import {
  findCurrentSubscription,
  findSubscription,
  lockSubscription,
  readDueSubscriptions,
  readPlansToTell,
  type SubscriptionRow,
  setPlanChecked,
  setPlanTold,
  setPlanToTell,
  updateSubscription,
} from './subscription-store.ts'

export interface PlansOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  orders: Orders
  providers: readonly PaymentProvider[]
  graceDays: number
}

/** How many plans one round of renewals handles. */
const ROUND = 200
const NO_NEXT = { next_product_id: null, next_revision: null }

type PlanChange = Partial<SubscriptionRow> & { to_reprice?: number }
type Price = Pick<Payment, 'amount' | 'currency'>

/** The plans of organizations: one each, renewed until it is cancelled. */
export class Plans {
  readonly #options: PlansOptions

  constructor(options: PlansOptions) {
    this.#options = options
  }

  /** Needs BILLING_VIEW. 404 without a plan. */
  async find(caller: Acting, organizationId: string): Promise<SubscriptionRecord> {
    const { db } = this.#options.database
    await requireMember(db, caller, organizationId, 'BILLING_VIEW')
    const row = await findCurrentSubscription(db, organizationId)
    if (!row) throw notFound('plan of this organization')
    return recordOf(db, row)
  }

  /** The plan ends with its period. Idempotent. */
  cancel(caller: UserOrigin, organizationId: string): Promise<SubscriptionRecord> {
    return this.#alter(caller, organizationId, 'plan.cancelled', async (row) => {
      if (row.reference !== null) await this.#providerOf(row)?.cancelPlan(row.reference, 'at-end')
      const values = { cancels_at_end: 1, ...NO_NEXT }
      // If the cancellation is withdrawn at the provider, the next period has the price of the current plan again.
      const hasNextPrice = row.reference !== null && row.next_product_id !== null
      return hasNextPrice ? { ...values, to_reprice: 1 } : values
    })
  }

  /** Another plan follows at the end of the period, at the price that it has now. */
  change(caller: UserOrigin, organizationId: string, productId: string): Promise<SubscriptionRecord> {
    return this.#alter(caller, organizationId, 'plan.changed', async (row) => {
      const { db } = this.#options.database
      const product = await requireProduct(db, productId)
      if (product.kind !== 'plan') throw invalidInput('/productId', 'must be a plan')
      const isCurrent = product.id === row.product_id
      if (product.retiredAt !== null && !isCurrent)
        throw new Problem('conflict', 'The plan is not sold any more.')
      const next = isCurrent ? NO_NEXT : { next_product_id: product.id, next_revision: product.revision }
      const values = { cancels_at_end: 0, ...next }
      if (row.reference === null) return values
      const current = await findRevision(db, row.product_id, row.revision)
      const isBilledAlike = product.period === current.period && product.currency === current.currency
      if (!isCurrent && !isBilledAlike) {
        throw new Problem(
          'conflict',
          'The payment provider renews this plan, so the next one needs the same period and currency. Cancel it, and buy the other one when it has ended.',
        )
      }
      // If the change is not stored after all, the provider is told again what is stored.
      await setPlanToTell(db, row.id)
      await this.#reprice({ ...row, ...values })
      return { ...values, to_reprice: 1 }
    })
  }

  async #alter(
    caller: UserOrigin,
    organizationId: string,
    action: string,
    decide: (row: SubscriptionRow) => Promise<PlanChange>,
  ): Promise<SubscriptionRecord> {
    const { database, clock } = this.#options
    const { db } = database
    await requireMember(db, caller, organizationId, 'BILLING_MANAGE')
    const current = await findCurrentSubscription(db, organizationId)
    if (!current) throw notFound('plan of this organization')
    const values = await decide(current)
    await db.transaction().execute(async (tx) => {
      const row = await lockSubscription(database, tx, current.id)
      if (!row || row.state === 'ended') throw new Problem('conflict', 'The plan has ended meanwhile.')
      await updateSubscription(tx, row.id, values)
      await recordEvent(tx, clock(), caller.origin, {
        action,
        organizationId,
        subject: `subscription:${row.id}`,
        detail: { productId: values.next_product_id ?? row.product_id, periodEnd: row.period_end },
      })
    })
    return this.find(caller, organizationId).catch(() => recordOf(db, { ...current, ...values }))
  }

  /** Renews the plans whose period has ended, and ends those that were cancelled or not paid. */
  async renewDue(): Promise<void> {
    const { database, clock } = this.#options
    for (const row of await readDueSubscriptions(database.db, clock().toISOString(), ROUND)) {
      // The provider tells when it has renewed a plan; it gets the days of grace for that.
      if (row.reference === null || row.cancels_at_end === 1 || row.state === 'past-due')
        await this.#renew(row.id)
      else await this.setPastDue(row.id)
    }
  }

  /**
   * The payment for the next period is missing: the plan goes on for the days of grace. With an event, the provider has
   * tried to take it, and the organization gets a mail, once for each event.
   */
  async setPastDue(id: string, event?: { id: string; kind: string }): Promise<void> {
    const { database, clock, graceDays } = this.#options
    await database.db.transaction().execute(async (tx) => {
      const row = await lockSubscription(database, tx, id)
      if (!row || row.state === 'ended') return
      const at = clock()
      const graceUntil = row.grace_until ?? plus(at, graceDays * DAY).toISOString()
      if (row.state === 'active') {
        await updateSubscription(tx, id, { state: 'past-due', grace_until: graceUntil })
      }
      if (!event) return
      const isNew = await insertPaymentEvent(tx, { ...event, order_id: null, at: at.toISOString() })
      if (isNew) await queueBillingNotice(tx, at, row.organization_id, { kind: 'payment-failed', graceUntil })
    })
  }

  /** Ends a plan now, as the provider says. */
  async endNow(id: string): Promise<void> {
    await this.#end(id, 'cancelled')
  }

  /** Stores the order of a period that the provider has renewed, under the provider's own reference. */
  async openRenewal(id: string, reference: string, paid: Price): Promise<void> {
    const { database, changes, clock, orders } = this.#options
    await changes.commit(async (tx, changed) => {
      const change = { database, tx, changed, at: clock() }
      const unlocked = await findSubscription(tx, id)
      if (!unlocked) throw notFound('such plan')
      await lockOrganizations(database, tx, [unlocked.organization_id])
      const row = (await lockSubscription(database, tx, id))!
      const order = { ...(await renewalOrder(change, row, paid)), reference }
      await orders.openIn(change, system, order, false)
    })
  }

  async #renew(id: string): Promise<void> {
    const { database, changes, clock, orders } = this.#options
    const renewed = await changes
      .commit(async (tx, changed) => {
        const change = { database, tx, changed, at: clock() }
        const row = await this.#lockDue(change, id)
        if (!row) return null
        if (row.cancels_at_end === 1 || row.state === 'past-due') return { row, isEnding: true }
        const order = await renewalOrder(change, row)
        const isPaid = row.provider === 'demo'
        const booking = await orders.openIn(change, system, order, isPaid)
        if (!isPaid) {
          const grace_until = plus(change.at, this.#options.graceDays * DAY).toISOString()
          await updateSubscription(tx, id, { state: 'past-due', grace_until })
        }
        await tellAbout(tx, change.at, booking.order, isPaid ? 'paid' : 'renewal')
        return { row, isEnding: false }
      })
      .catch((error: unknown) => {
        // Another node has renewed it.
        if (isUniqueViolation(error)) return null
        throw error
      })
    if (renewed?.isEnding) await this.#end(id, renewed.row.cancels_at_end === 1 ? 'cancelled' : 'unpaid')
  }

  async #lockDue(change: ControlChange, id: string): Promise<SubscriptionRow | undefined> {
    const { database, tx, at } = change
    const unlocked = await findSubscription(tx, id)
    if (!unlocked) return undefined
    const open = await lockOrganizations(database, tx, [unlocked.organization_id])
    const row = await lockSubscription(database, tx, id)
    if (!row || row.state === 'ended') return undefined
    // No member is left to use it.
    if (open.size === 0) {
      await endPlan(change, system, row, 'closed')
      return undefined
    }
    const dueAt = row.state === 'past-due' ? row.grace_until : row.period_end
    return dueAt !== null && dueAt <= at.toISOString() ? row : undefined
  }

  async #end(id: string, reason: 'cancelled' | 'unpaid'): Promise<void> {
    const { database, changes, clock, orders } = this.#options
    await changes.commit(async (tx, changed) => {
      const change = { database, tx, changed, at: clock() }
      const unlocked = await findSubscription(tx, id)
      if (!unlocked) return
      await lockOrganizations(database, tx, [unlocked.organization_id])
      const row = await lockSubscription(database, tx, id)
      if (!row || row.state === 'ended') return
      await endPlan(change, system, row, reason)
      const renewal = await findOrderByReference(tx, row.provider, 'reference', renewalReference(row))
      const order = renewal && (await lockOrder(database, tx, renewal.id))
      if (order) await orders.cancelIn(change, system, order, 'The plan has ended.')
      await queueBillingNotice(tx, change.at, row.organization_id, { kind: 'plan-ended' })
    })
  }

  /** Tells providers about plans that have ended or were changed here. What fails now is told later. */
  async tellProviders(): Promise<void> {
    const { database, clock } = this.#options
    const { db } = database
    for (const row of await readPlansToTell(db, ROUND)) {
      await setPlanChecked(db, row.id, clock().toISOString())
      if (row.to_cancel === 1) await this.#providerOf(row)?.cancelPlan(row.reference!, 'now')
      else await this.#reprice(row)
      await setPlanTold(db, row)
    }
  }

  /** Tells the provider what the next period costs. */
  async #reprice(row: SubscriptionRow): Promise<void> {
    const { db } = this.#options.database
    const next = (await nextPlan(db, row)) ?? (await findRevision(db, row.product_id, row.revision))
    const { id: productId, revision, name, price, currency, period } = next
    const cancelsAtEnd = row.cancels_at_end === 1
    const plan = { productId, revision, name, price, currency, period: period!, cancelsAtEnd }
    await this.#providerOf(row)?.repricePlan(row.reference!, plan)
  }

  /** The plan was cancelled, or its cancellation withdrawn, at the provider. */
  async setCancelsAtEnd(id: string, cancelsAtEnd: boolean): Promise<void> {
    const { database, clock } = this.#options
    await database.db.transaction().execute(async (tx) => {
      const row = await lockSubscription(database, tx, id)
      if (!row || row.state === 'ended' || (row.cancels_at_end === 1) === cancelsAtEnd) return
      // What is stored here is newer.
      if (row.to_reprice === 1) return
      await updateSubscription(tx, id, { cancels_at_end: cancelsAtEnd ? 1 : 0 })
      await recordEvent(tx, clock(), system, {
        action: cancelsAtEnd ? 'plan.cancelled' : 'plan.changed',
        organizationId: row.organization_id,
        subject: `subscription:${id}`,
        detail: { productId: row.product_id, periodEnd: row.period_end },
      })
    })
  }

  #providerOf({ provider }: SubscriptionRow): PaymentProvider | undefined {
    return this.#options.providers.find(({ name }) => name === provider)
  }
}

/** One order for each period: the unique index on it lets one node renew. */
function renewalReference({ id, periods, period_end }: SubscriptionRow): string {
  return `${id}:${periods + 1}:${period_end}`
}

/** The plan that follows at the end of the period, as the organization agreed to it; null if the plan stays. */
async function nextPlan(
  db: Db | Tx,
  { next_product_id, next_revision }: SubscriptionRow,
): Promise<Product | null> {
  if (next_product_id === null) return null
  return next_revision === null
    ? requireProduct(db, next_product_id)
    : findRevision(db, next_product_id, next_revision)
}

/** `paid` is what the provider has taken for the period, if it renews the plan. */
async function renewalOrder(
  { tx, at }: ControlChange,
  row: SubscriptionRow,
  paid?: Price,
): Promise<OrderRow> {
  const current = await findRevision(tx, row.product_id, row.revision)
  const planned = (await nextPlan(tx, row)) ?? current
  // The invoice may be older than the change: then the current plan goes on for the period that it is for.
  const isBeforeChange = paid !== undefined && !isPriceOf(planned, paid) && isPriceOf(current, paid)
  const next = isBeforeChange ? current : planned
  const isSamePeriod = next.period === current.period
  const end = isSamePeriod
    ? periodEnd(new Date(row.anchor), next.period!, row.periods + 1)
    : periodEnd(new Date(row.period_end), next.period!, 1)
  return {
    id: newId('ord'),
    organization_id: row.organization_id,
    product_id: next.id,
    revision: next.revision,
    quantity: 1,
    amount: next.price,
    currency: next.currency,
    credits: next.credits,
    provider: row.provider,
    reference: renewalReference(row),
    payment_reference: null,
    url: null,
    state: 'open',
    reason: '',
    refunded_amount: 0,
    withdrawn_credits: 0,
    subscription_id: row.id,
    period_start: row.period_end,
    period_end: end.toISOString(),
    reminders: 0,
    created_by: system.actor,
    created_at: at.toISOString(),
    paid_at: null,
    upgrades_from: null,
  }
}

function isPriceOf({ price, currency }: Product, paid: Price): boolean {
  return price === paid.amount && currency === paid.currency
}

async function recordOf(db: Db, row: SubscriptionRow): Promise<SubscriptionRecord> {
  const product = await findRevision(db, row.product_id, row.revision)
  return {
    id: row.id,
    state: row.state,
    provider: row.provider,
    productId: row.product_id,
    productName: product.name,
    credits: product.credits,
    addOns: product.addOns as AddOn[],
    limits: product.limits,
    amount: product.price,
    currency: product.currency,
    period: product.period!,
    periodStart: row.period_start,
    periodEnd: row.period_end,
    cancelsAtEnd: row.cancels_at_end === 1,
    nextProductId: row.next_product_id,
    graceUntil: row.grace_until,
  }
}
