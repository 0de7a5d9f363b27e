import type { Stripe } from 'stripe'
import { type Clock, DAY, MINUTE, plus } from '../../../base/clock.ts'
import { type Db, isUniqueViolation } from '../../../base/database/open.ts'
import { type Origin, system } from '../../../base/events/events.ts'
import { isId } from '../../../base/id.ts'
import {
  findOrder,
  findOrderByReference,
  hasPaymentEvent,
  type OrderRow,
  readOrdersToCheck,
  setOrderChecked,
} from '../orders/order-store.ts'
import type { Orders } from '../orders/orders.ts'
import type { Plans } from '../plans/plans.ts'
import {
  findSubscriptionByReference,
  readPlansToCheck,
  type SubscriptionRow,
  setPlanChecked,
} from '../plans/subscription-store.ts'
import type { StripeProvider } from './stripe-provider.ts'

export interface StripeEventsOptions {
  db: Db
  clock: Clock
  provider: StripeProvider
  orders: Orders
  plans: Plans
}

/** An order that stayed open so long is asked about, because its event may have been lost. */
const ASK_AFTER = 10 * MINUTE
/** Stripe expires a checkout after a day. */
const ASK_UNTIL = 30 * DAY
/** Stripe refunds payments for 180 days; payers can dispute them for 120. */
const RETURNS_UNTIL = 180 * DAY
/** How many orders and plans one round asks about. */
const ROUND = 100

/**
 * Events of Stripe. An event only says what to look at: the state that is booked is asked from Stripe, so events may
 * arrive twice, late or in any order, and a reconciliation does the same without an event.
 */
export class StripeEvents {
  readonly #options: StripeEventsOptions

  constructor(options: StripeEventsOptions) {
    this.#options = options
  }

  /** Throws 400 for an event that is not genuine, and 503 if Stripe cannot be asked: it sends the event again. */
  async receive(origin: Origin, body: Buffer, signature: string | undefined): Promise<void> {
    const { db, provider } = this.#options
    const event = await provider.verifiedEvent(body, signature)
    const id = `stripe:${event.id}`
    if (await hasPaymentEvent(db, id)) return
    await this.#handle(origin, event, { id, kind: event.type })
  }

  /**
   * Asks about orders that stayed open, paid orders that may be refunded or disputed meanwhile, and plans. Stops at the
   * first failure; the next round goes on behind it.
   */
  async reconcile(): Promise<void> {
    const { db, clock, plans } = this.#options
    const now = clock()
    const ago = (time: number) => plus(now, -time).toISOString()
    const of = { provider: 'stripe', before: ago(ASK_AFTER), limit: ROUND } as const
    const orders = [
      ...(await readOrdersToCheck(db, { ...of, state: 'open', since: ago(ASK_UNTIL) })),
      ...(await readOrdersToCheck(db, { ...of, state: 'paid', since: ago(RETURNS_UNTIL) })),
    ]
    for (const order of orders) {
      await setOrderChecked(db, order.id, now.toISOString())
      await this.#apply(system, order)
    }
    for (const plan of await readPlansToCheck(db, 'stripe', ROUND)) {
      await setPlanChecked(db, plan.id, now.toISOString())
      await this.#reconcilePlan(plan)
    }
    await plans.tellProviders()
  }

  async #reconcilePlan(plan: SubscriptionRow): Promise<void> {
    const { provider, plans } = this.#options
    const { isEnded, cancelsAtEnd, latestInvoice } = await provider.planOf(plan.reference!)
    if (latestInvoice !== null) await this.#renew(system, plan, latestInvoice)
    if (isEnded) await plans.endNow(plan.id)
    else await plans.setCancelsAtEnd(plan.id, cancelsAtEnd)
  }

  async #handle(origin: Origin, event: Stripe.Event, applied: AppliedEvent): Promise<void> {
    switch (event.type) {
      case 'checkout.session.completed':
      case 'checkout.session.async_payment_succeeded':
      case 'checkout.session.async_payment_failed':
      case 'checkout.session.expired':
        return this.#applyTo(origin, await this.#byReference(event.data.object.id), applied)
      case 'charge.refunded':
      case 'charge.dispute.created':
      case 'charge.dispute.updated':
      case 'charge.dispute.closed':
      case 'charge.dispute.funds_withdrawn':
      case 'charge.dispute.funds_reinstated':
        return this.#applyTo(origin, await this.#byPayment(event.data.object.payment_intent), applied)
      case 'invoice.paid':
      case 'invoice.payment_failed':
        return this.#invoice(origin, event.data.object, event.type === 'invoice.paid', applied)
      case 'customer.subscription.updated':
      case 'customer.subscription.deleted': {
        const plan = await this.#planOf(event.data.object.id)
        if (plan) await this.#reconcilePlan(plan)
        return
      }
      default:
        // Stripe sends what the operator has selected there; everything else is not ours.
        return
    }
  }

  async #invoice(
    origin: Origin,
    invoice: Stripe.Invoice,
    isPaid: boolean,
    applied: AppliedEvent,
  ): Promise<void> {
    const details = invoice.parent?.subscription_details
    if (!details) return
    const reference =
      typeof details.subscription === 'string' ? details.subscription : details.subscription.id
    if (!(await this.#planOf(reference))) {
      // The first payment begins the plan. Its own event may arrive later.
      const first = await this.#orderById(details.metadata?.['orderId'])
      if (first) await this.#apply(origin, first)
    }
    if (invoice.billing_reason === 'subscription_create') return
    const plan = await this.#planOf(reference)
    if (!plan || !invoice.id) return
    if (isPaid) await this.#renew(origin, plan, invoice.id, applied)
    else await this.#setPastDue(plan, invoice.id, applied)
  }

  /** The event may be late, or come again, and the invoice be paid meanwhile: Stripe says what holds now. */
  async #setPastDue(plan: SubscriptionRow, invoice: string, applied: AppliedEvent): Promise<void> {
    const { provider, plans } = this.#options
    const payment = await provider.paymentOf({ id: '', amount: 0, currency: '', reference: invoice })
    if (payment?.status !== 'paid') await plans.setPastDue(plan.id, applied)
  }

  /** Books the payment of a further period; the invoice's id is unique, so it is booked once. */
  async #renew(
    origin: Origin,
    plan: SubscriptionRow,
    invoice: string,
    applied?: AppliedEvent,
  ): Promise<void> {
    const { provider, plans } = this.#options
    let order = await this.#byReference(invoice)
    if (!order) {
      const payment = await provider.paymentOf({ id: '', amount: 0, currency: '', reference: invoice })
      // The invoice of the first period belongs to the order of the checkout.
      const ofFirst = payment?.reference ? await this.#byPayment(payment.reference) : undefined
      if (ofFirst || payment?.status !== 'paid') return
      await plans.openRenewal(plan.id, invoice, payment).catch((error: unknown) => {
        if (!isUniqueViolation(error)) throw error
      })
      order = await this.#byReference(invoice)
    }
    if (order) await this.#apply(origin, order, applied)
  }

  async #applyTo(origin: Origin, order: OrderRow | undefined, applied: AppliedEvent): Promise<void> {
    // Payments of other shops on the same account are not ours.
    if (order) await this.#apply(origin, order, applied)
  }

  async #apply(origin: Origin, order: OrderRow, applied?: AppliedEvent): Promise<void> {
    const { provider, orders, plans } = this.#options
    const payment = await provider.paymentOf(order)
    const booking = payment && (await orders.apply(origin, order.id, payment, applied))
    // Soon, because the period may end in minutes. A failure is left to the next reconciliation.
    if (booking?.outcome === 'upgraded') await plans.tellProviders().catch(() => {})
  }

  #planOf(reference: string): Promise<SubscriptionRow | undefined> {
    return findSubscriptionByReference(this.#options.db, 'stripe', reference)
  }

  #byReference(reference: string): Promise<OrderRow | undefined> {
    return findOrderByReference(this.#options.db, 'stripe', 'reference', reference)
  }

  async #byPayment(payment: string | { id: string } | null): Promise<OrderRow | undefined> {
    const { db, provider } = this.#options
    if (payment === null) return undefined
    const reference = typeof payment === 'string' ? payment : payment.id
    const order = await findOrderByReference(db, 'stripe', 'payment_reference', reference)
    // A refund may be told before the payment itself.
    return order ?? this.#orderById(await provider.orderOfPayment(reference))
  }

  async #orderById(id: string | null | undefined): Promise<OrderRow | undefined> {
    const order = id && isId('ord', id) ? await findOrder(this.#options.db, id) : undefined
    return order?.provider === 'stripe' ? order : undefined
  }
}

interface AppliedEvent {
  id: string
  kind: string
}
