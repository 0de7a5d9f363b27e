import type { AdminOrder, Checkout, Order, Product, StartedCheckout } from '@wayleave/contract/records'
import { type Clock, DAY, plus } from '../../../base/clock.ts'
import type { Changes } from '../../../base/database/changes/changes.ts'
import type { ControlDatabase, Db, Tx } from '../../../base/database/open.ts'
import type { Acting, MailedUser, Origin } from '../../../base/events/events.ts'
import { isId, newId } from '../../../base/id.ts'
import { invalidInput, notFound, Problem } from '../../../base/problem.ts'
import { requireMember } from '../../access/membership.ts'
import { lockOrganizations } from '../../access/membership-store.ts'
import type { ControlChange } from '../../organizations/organizations.ts'
import { findOrganization } from '../../organizations/store.ts'
import { type InvoiceSettings, issueCreditNote, issueInvoice, orderedName } from '../invoices/invoices.ts'
import { findCustomer } from '../invoices/profile-store.ts'
import { findCurrentSubscription } from '../plans/subscription-store.ts'
import { requireProduct } from '../products/products.ts'
import { type Payment, type PaymentProvider, paymentInFull } from '../providers/payment-provider.ts'
import { tellAbout, tellOutcome } from './billing-mails.ts'
import { applyPayment, type Booking, cancelOpen, recordOrderEvent } from './order-books.ts'
import {
  countOpenOrders,
  countReminder,
  findOrder,
  insertOrder,
  insertPaymentEvent,
  listOrders,
  lockOrder,
  type OrderFilter,
  type OrderRow,
  readUnpaidOrders,
  updateOrder,
} from './order-store.ts'

export interface OrdersOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  providers: readonly PaymentProvider[]
  invoices: InvoiceSettings
  baseUrl: () => string
}

/** What an organization orders. */
export interface PlacedOrder {
  provider: PaymentProvider
  product: Product
  quantity: number
  amount: number
  credits: number
  returnPath: string | undefined
  /** For the rest of a plan's period; `from` is the order whose plan it replaces. */
  upgrade: { subscriptionId: string; from: string; periodStart: string; periodEnd: string } | null
}

/** Far above any real order, and such that no sum of orders leaves the exact integers. */
const MAX_ORDER_CREDITS = 1_000_000_000
const MAX_ORDER_AMOUNT = 100_000_000_000
/** The max open orders of an organization: each may have an invoice with a number of its own, and reminders. */
const MAX_OPEN_ORDERS = 50

/** Orders of organizations, from the checkout to the last refund. */
export class Orders {
  readonly #options: OrdersOptions

  constructor(options: OrdersOptions) {
    this.#options = options
  }

  /** Needs BILLING_MANAGE. */
  async checkout(caller: MailedUser, organizationId: string, checkout: Checkout): Promise<StartedCheckout> {
    const { db } = this.#options.database
    await requireMember(db, caller, organizationId, 'BILLING_MANAGE')
    const provider = this.providerOf(checkout.provider)
    const product = await requireProduct(db, checkout.productId)
    if (product.retiredAt !== null) throw new Problem('conflict', 'The product is not sold any more.')
    const quantity = checkout.quantity ?? 1
    const credits = product.credits * quantity
    const amount = product.price * quantity
    if (product.kind === 'plan' && quantity > 1) throw invalidInput('/quantity', 'must be 1 for a plan')
    if (credits > MAX_ORDER_CREDITS || amount > MAX_ORDER_AMOUNT)
      throw invalidInput('/quantity', 'makes the order too large')
    if (product.kind === 'plan') await requireNoPlan(db, organizationId)
    const { returnPath } = checkout
    const placed = { provider, product, quantity, amount, credits, returnPath, upgrade: null }
    return this.place(caller, organizationId, placed)
  }

  /** The provider is asked first: if it is down, nothing is stored. */
  async place(caller: MailedUser, organizationId: string, placed: PlacedOrder): Promise<StartedCheckout> {
    const { database, baseUrl } = this.#options
    const { provider, product, quantity, amount, upgrade } = placed
    await requireFewOpen(database.db, organizationId)
    const id = newId('ord')
    const pageUrl = returnUrl(baseUrl(), id, placed.returnPath)
    const draft = {
      id,
      organizationId,
      productName: orderedName({ upgrades_from: upgrade?.from ?? null }, product),
      quantity,
      price: upgrade === null ? product.price : amount,
      currency: product.currency,
      // An upgrade is one payment: the plan is renewed as before.
      period: upgrade === null ? product.period : null,
      email: caller.email,
      customer: await findCustomer(database.db, organizationId, provider.name),
      returnUrl: pageUrl,
    }
    const isFree = upgrade !== null && amount === 0
    const started = isFree ? { reference: id, url: pageUrl, isPaid: true } : await provider.begin(draft)
    const row = newOrder(id, organizationId, placed, {
      reference: started.reference,
      url: started.url,
      created_by: caller.origin.actor,
      created_at: this.#options.clock().toISOString(),
    })
    const booking = await this.#commit(async (change) => {
      const { tx } = change
      await requireMember(tx, caller, organizationId, 'BILLING_MANAGE')
      // Again, because orders may be placed at the same time: they wait here for each other.
      await lockOrganizations(database, tx, [organizationId])
      await requireFewOpen(tx, organizationId)
      if (product.kind === 'plan' && upgrade === null) await requireNoPlan(tx, organizationId)
      return this.openIn(change, caller.origin, row, started.isPaid)
    })
    return { orderId: id, url: started.url, state: booking.order.state }
  }

  /** Stores an order with its invoice, and books it if it is paid already. */
  async openIn(change: ControlChange, origin: Origin, row: OrderRow, isPaid: boolean): Promise<Booking> {
    const { tx, at } = change
    const open = await lockOrganizations(change.database, tx, [row.organization_id])
    if (open.size === 0) throw notFound('such organization')
    await insertOrder(tx, row)
    await recordOrderEvent(tx, at, origin, 'order.opened', row, { provider: row.provider })
    const booking: Booking = isPaid
      ? await applyPayment(change, origin, row.id, paymentInFull(row))
      : { order: row, outcome: null }
    if (this.providerOf(row.provider).issuesInvoices) {
      const organization = (await findOrganization(tx, row.organization_id))!
      const order = (await findOrder(tx, row.id))!
      await issueInvoice(tx, at, order, organization.name, this.#options.invoices)
    }
    return booking
  }

  /**
   * Applies what a provider says about an order. With an event id, the event is applied once. Returns null for an
   * event that was applied before.
   */
  async apply(
    origin: Origin,
    orderId: string,
    payment: Payment,
    event?: { id: string; kind: string },
  ): Promise<Booking | null> {
    return this.#commit(async (change) => {
      if (event) {
        const row = { ...event, order_id: orderId, at: change.at.toISOString() }
        if (!(await insertPaymentEvent(change.tx, row))) return null
      }
      return applyPayment(change, origin, orderId, payment)
    })
  }

  /** For an administrator who saw the money, or who accepts a payment that was held. */
  async markPaid(origin: Origin, orderId: string): Promise<AdminOrder> {
    const order = await this.#require(orderId)
    if (order.state !== 'open' && !(order.state === 'held' && order.paid_at === null)) {
      throw new Problem('conflict', `The order is ${order.state}.`)
    }
    // A plan at the provider goes on there, and is renewed by its payments.
    const known = await this.#knownPayment(order)
    const payment: Payment = {
      ...paymentInFull(order),
      reference: known?.reference ?? order.payment_reference,
      subscriptionReference: known?.subscriptionReference ?? null,
      customerReference: known?.customerReference ?? null,
    }
    const booking = await this.#commit((change) => applyPayment(change, origin, orderId, payment))
    // The organization may be closed.
    if (booking.order.state !== 'paid') throw new Problem('conflict', booking.order.reason)
    return this.#record(orderId)
  }

  /** Returns money by the provider, then takes the credits back. Without an amount, what is left of the order's. */
  async refund(origin: Origin, orderId: string, wanted?: number): Promise<AdminOrder> {
    const order = await this.#require(orderId)
    const left = order.amount - order.refunded_amount
    const amount = wanted ?? left
    if (order.paid_at === null || left === 0) throw new Problem('conflict', `The order is ${order.state}.`)
    if (amount > left) throw invalidInput('/amount', `must be at most ${left}`)
    await this.providerOf(order.provider).refund(order, amount)
    const payment: Payment = {
      ...paymentInFull(order),
      refundedAmount: order.refunded_amount + amount,
      isDisputed: order.state === 'held',
      reference: order.payment_reference,
    }
    await this.#commit(async (change) => {
      const { database, tx } = change
      await lockOrganizations(database, tx, [order.organization_id])
      const { refunded_amount } = (await lockOrder(database, tx, orderId))!
      // Without a provider that tells the sum, one of two refunds at the same time would be lost.
      if (order.payment_reference === null && refunded_amount !== order.refunded_amount)
        throw new Problem('conflict', `Another refund was booked meanwhile: ${refunded_amount} in all.`)
      return applyPayment(change, origin, orderId, payment)
    })
    return this.#record(orderId)
  }

  async cancel(origin: Origin, orderId: string, reason: string): Promise<AdminOrder> {
    const found = await this.#require(orderId)
    // The payer has paid for a plan that never begins here, and would go on paying.
    if (found.state === 'held' && found.paid_at === null) {
      const begun = (await this.#knownPayment(found))?.subscriptionReference ?? null
      if (begun !== null) await this.providerOf(found.provider).cancelPlan(begun, 'now')
    }
    await this.#commit(async (change) => {
      const order = (await lockOrder(change.database, change.tx, orderId))!
      if (order.state === 'held' && order.paid_at === null) {
        await updateOrder(change.tx, orderId, { state: 'open', reason: '' })
        order.state = 'open'
      }
      if (order.state !== 'open') throw new Problem('conflict', `The order is ${order.state}.`)
      return this.cancelIn(change, origin, order, reason)
    })
    return this.#record(orderId)
  }

  /** Cancels an open order. Its invoice gets a credit note: a number that was issued stays in the books. */
  async cancelIn(change: ControlChange, origin: Origin, order: OrderRow, reason: string): Promise<Booking> {
    const booking = await cancelOpen(change, origin, order, reason)
    if (booking.outcome === 'cancelled')
      await issueCreditNote(change.tx, change.at, booking.order, order.amount, this.#options.invoices)
    return booking
  }

  /** Reminds of invoices that are due, at most twice. */
  async remind(): Promise<void> {
    const { database, clock, invoices } = this.#options
    const days = invoices.invoiceDays * DAY
    for (const reminders of [0, 1]) {
      const before = plus(clock(), -days * (reminders + 1)).toISOString()
      for (const order of await readUnpaidOrders(database.db, { before, reminders, limit: 100 })) {
        await database.db.transaction().execute(async (tx) => {
          // Of two nodes, one sends the mail.
          if (await countReminder(tx, order.id, reminders)) await tellAbout(tx, clock(), order, 'reminder')
        })
      }
    }
  }

  /** For members with BILLING_VIEW. */
  async list(caller: Acting, organizationId: string, filter: OrderFilter): Promise<Order[]> {
    const { db } = this.#options.database
    await requireMember(db, caller, organizationId, 'BILLING_VIEW')
    return listOrders(db, { ...filter, organizationId })
  }

  async find(caller: Acting, organizationId: string, orderId: string): Promise<Order> {
    const [order] = await this.list(caller, organizationId, { id: orderId, limit: 1 })
    if (!order) throw notFound('such order')
    return order
  }

  /** For administrators. */
  all(filter: OrderFilter): Promise<AdminOrder[]> {
    return listOrders(this.#options.database.db, filter)
  }

  /** What the provider says about an order; null if only administrators know. */
  #knownPayment(order: OrderRow): Promise<Payment | null> {
    const provider = this.#options.providers.find(({ name }) => name === order.provider)
    return provider?.paymentOf(order) ?? Promise.resolve(null)
  }

  async #record(orderId: string): Promise<AdminOrder> {
    const [order] = await this.all({ id: orderId, limit: 1 })
    if (!order) throw notFound('such order')
    return order
  }

  async #require(orderId: string): Promise<OrderRow> {
    const order = isId('ord', orderId) ? await findOrder(this.#options.database.db, orderId) : undefined
    if (!order) throw notFound('such order')
    return order
  }

  /** Without a name, the first one. */
  providerOf(name: string | undefined): PaymentProvider {
    const { providers } = this.#options
    const provider = name === undefined ? providers[0] : providers.find((each) => each.name === name)
    if (!provider)
      throw invalidInput('/provider', `must be one of ${providers.map((each) => each.name).join(', ')}`)
    return provider
  }

  /** The mails about what happened and the credit note of a refund are part of the transaction. */
  async #commit<T extends Booking | null>(work: (change: ControlChange) => Promise<T>): Promise<T> {
    const { database, changes, clock, invoices } = this.#options
    return changes.commit(async (tx, changed) => {
      const at = clock()
      const booking = await work({ database, tx, changed, at })
      if (booking === null) return booking
      await tellOutcome(tx, at, booking)
      if (booking.refunded) await issueCreditNote(tx, at, booking.order, booking.refunded, invoices)
      return booking
    })
  }
}

async function requireNoPlan(db: Db | Tx, organizationId: string): Promise<void> {
  if (await findCurrentSubscription(db, organizationId))
    throw new Problem('conflict', 'The organization has a plan. Change it, or cancel it first.')
}

async function requireFewOpen(db: Db | Tx, organizationId: string): Promise<void> {
  if ((await countOpenOrders(db, organizationId)) < MAX_OPEN_ORDERS) return
  throw new Problem(
    'conflict',
    `The organization has ${MAX_OPEN_ORDERS} open orders. Pay one, or ask the operator to cancel those that are not wanted.`,
  )
}

function newOrder(
  id: string,
  organizationId: string,
  { provider, product, quantity, amount, credits, upgrade }: PlacedOrder,
  values: Pick<OrderRow, 'reference' | 'url' | 'created_by' | 'created_at'>,
): OrderRow {
  return {
    id,
    organization_id: organizationId,
    product_id: product.id,
    revision: product.revision,
    quantity,
    amount,
    currency: product.currency,
    credits,
    provider: provider.name,
    payment_reference: null,
    state: 'open',
    reason: '',
    refunded_amount: 0,
    withdrawn_credits: 0,
    subscription_id: upgrade?.subscriptionId ?? null,
    period_start: upgrade?.periodStart ?? null,
    period_end: upgrade?.periodEnd ?? null,
    reminders: 0,
    paid_at: null,
    upgrades_from: upgrade?.from ?? null,
    ...values,
  }
}

/** A page of the service: that of the order, which leads back to what the payer was doing. */
function returnUrl(base: string, orderId: string, path: string | undefined): string {
  const back = path === undefined ? '' : `&back=${encodeURIComponent(path)}`
  return `${base}/organization/billing?order=${orderId}${back}`
}
