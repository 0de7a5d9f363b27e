import {
  eventPayload,
  eventSignature,
  type Intent,
  type Session,
  type StripeEvent,
  type StripeSimulation,
} from '../../../scripts/test-servers/stripe-simulation.ts'
import type { AccountPromise } from '../promises/promises.ts'
import type { World } from '../world.ts'

/** An order of which the customer was told, with its checkout at Stripe. */
interface Purchase {
  account: AccountPromise
  orderId: string
  session: Session
  kind: 'pack' | 'plan' | 'upgrade'
}

interface ReadOrder {
  id: string
  state: string
  kind: string
  amount: number
  credits: number
  refundedAmount: number
  withdrawnCredits: number
  paidAt: string | null
}

const DISPUTES = ['needs_response', 'won', 'lost'] as const

/** Customers, a payment provider that tells what happens there, and what the books must be like then. */
export class Shop {
  readonly #world: World
  readonly #stripe: StripeSimulation
  readonly #purchases: Purchase[] = []
  /** Events that the service has not taken yet. Stripe sends them again until it does. */
  readonly #events: { payload: string }[] = []
  #packId = ''
  #planId = ''
  #largerPlanId = ''

  constructor(world: World, stripe: StripeSimulation) {
    this.#world = world
    this.#stripe = stripe
  }

  async prepare(): Promise<void> {
    const common = { currency: 'EUR', price: 1900, credits: 100 }
    this.#packId = await this.#addProduct({ ...common, kind: 'pack', name: 'Hundred credits' })
    const plan = { ...common, kind: 'plan', period: 'month' }
    this.#planId = await this.#addProduct({ ...plan, name: 'Town plan' })
    this.#largerPlanId = await this.#addProduct({ ...plan, name: 'City plan', price: 3900, credits: 300 })
  }

  /** One thing that a customer, Stripe or an administrator does. */
  async act(): Promise<void> {
    const { random } = this.#world.run
    const acts = [
      () => this.#buy(),
      () => this.#buy(),
      () => this.#pay(),
      () => this.#pay(),
      () => this.#renew(),
      () => this.#upgrade(),
      () => this.#changePlan(),
      () => this.#refund(),
      () => this.#refundByAdministrator(),
      () => this.#dispute(),
      () => this.#deliver(),
      () => this.#deliver(),
      () => this.#deliver(),
    ]
    await random.pick(acts)()
    // Acts without anything to do return at once.
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Sends every event until the service has taken it. */
  async deliverAll(): Promise<void> {
    for (let attempts = 0; this.#events.length > 0 && attempts < 10_000; attempts++) await this.#deliver()
    this.#world.run.expect(this.#events.length === 0, 'every event is taken', 'events were refused')
  }

  /** Compares the orders with what Stripe knows. */
  async check(): Promise<void> {
    const { run, promises } = this.#world
    for (const account of promises.accounts) {
      const response = await this.#world.send('GET', '/v1/billing/orders?limit=1000', {
        token: account.accessToken,
      })
      if (!run.expect(response.status === 200, 'orders are read', `${response.status}`)) continue
      const orders = new Map((response.body.data as ReadOrder[]).map((order) => [order.id, order]))
      for (const purchase of this.#purchases.filter((each) => each.account === account))
        this.#checkPurchase(purchase, orders.get(purchase.orderId))
      this.#checkPeriods(account, [...orders.values()])
    }
  }

  #checkPurchase({ session, kind }: Purchase, order: ReadOrder | undefined): void {
    const { run } = this.#world
    if (!run.expect(order !== undefined, 'an order that was told is stored', 'it is missing')) return
    const intent = this.#intentOf(session)
    // An upgrade of a plan that was renewed or changed meanwhile is held.
    if (kind === 'upgrade' && intent && order!.paidAt === null) {
      run.expect(order!.state === 'held', 'a payment for an upgrade is booked or held', () =>
        JSON.stringify(order),
      )
      return
    }
    if (kind === 'plan' || !intent) {
      run.expect((order!.paidAt !== null) === (session.status === 'complete'), 'paid orders are booked', () =>
        JSON.stringify(order),
      )
      return
    }
    const isReturned = intent.refunded >= intent.amount || intent.dispute === 'lost'
    const state = isReturned ? 'refunded' : intent.dispute === 'needs_response' ? 'held' : 'paid'
    // A refund of everything is final, also if the dispute was won before.
    const expected = order!.state === 'refunded' ? 'refunded' : state
    const share = Math.floor((order!.credits * intent.refunded) / intent.amount)
    const withdrawn = expected === 'paid' ? share : order!.credits
    run.expect(
      order!.state === expected && (!isReturned || expected === 'refunded'),
      'the state of an order is that of its payment',
      () => `${order!.state} and not ${state}`,
    )
    // Those of an upgrade may have lapsed at the end of the period.
    const isRight =
      kind === 'upgrade' ? order!.withdrawnCredits <= withdrawn : order!.withdrawnCredits === withdrawn
    run.expect(isRight, 'credits are taken back once', () => JSON.stringify({ order, withdrawn }))
  }

  /**
   * Each invoice of Stripe that is paid is one order. It is held if Stripe made it with another price than that of the
   * plan, because it was told of a change too late.
   */
  #checkPeriods(account: AccountPromise, orders: ReadOrder[]): void {
    const purchases = this.#purchases.filter((each) => each.account === account)
    const subscriptions = purchases
      .filter(({ kind }) => kind === 'plan')
      .map(({ session }) => session.subscription)
    const upgrades = new Set(purchases.filter(({ kind }) => kind === 'upgrade').map(({ orderId }) => orderId))
    const invoices = [...this.#stripe.invoices.values()].filter(({ subscription }) =>
      subscriptions.includes(subscription),
    )
    const paid = orders.filter(
      ({ id, kind, paidAt, state }) =>
        kind === 'plan' && !upgrades.has(id) && (paidAt !== null || state === 'held'),
    )
    this.#world.run.expect(
      paid.length === invoices.length,
      'each period that is paid is booked once',
      () => `${paid.length} orders for ${invoices.length} invoices`,
    )
  }

  async #addProduct(body: object): Promise<string> {
    const token = this.#world.promises.administrator.accessToken
    const response = await this.#world.send('POST', '/v1/admin/products', { token, body })
    if (response.status !== 201) throw new Error(`Adding a product got ${response.status}.`)
    return response.body.id
  }

  async #buy(): Promise<void> {
    const { run, promises } = this.#world
    const account = run.random.pick(promises.accounts)
    const hasPlan = this.#purchases.some((each) => each.account === account && each.kind === 'plan')
    const isPlan = !hasPlan && run.random.chance(0.2)
    const productId = isPlan ? this.#planId : this.#packId
    await this.#order(account, '/v1/billing/checkout', productId, isPlan ? 'plan' : 'pack')
  }

  /** A larger plan in the middle of a period. */
  async #upgrade(): Promise<void> {
    const plan = this.#randomPlan()
    if (!plan) return
    await this.#order(plan.account, '/v1/billing/subscription/upgrade', this.#largerPlanId, 'upgrade')
  }

  async #order(
    account: AccountPromise,
    path: string,
    productId: string,
    kind: Purchase['kind'],
  ): Promise<void> {
    await this.#world.exclusively(`plan of ${account.organizationId}`, async () => {
      const token = account.accessToken
      const { status, body } = await this.#world.send('POST', path, { token, body: { productId } })
      // A customer who got no response pays nothing.
      if (status !== 201) return
      const { orderId } = body
      this.#purchases.push({ account, orderId, kind, session: this.#stripe.sessionOf(orderId) })
    })
  }

  /** Another plan for the next period; Stripe may be told, and the response be lost. */
  async #changePlan(): Promise<void> {
    const plan = this.#randomPlan()
    if (!plan) return
    await this.#world.send('POST', '/v1/billing/subscription/change', {
      token: plan.account.accessToken,
      body: { productId: this.#world.run.random.pick([this.#planId, this.#largerPlanId]) },
    })
  }

  async #pay(): Promise<void> {
    const open = this.#purchases.filter(({ session }) => session.status === 'open')
    const purchase = open.length > 0 ? this.#world.run.random.pick(open) : null
    if (!purchase) return
    this.#stripe.pay(purchase.session)
    this.#tell(this.#stripe.sessionEvent(purchase.session))
  }

  async #renew(): Promise<void> {
    const plan = this.#randomPlan()
    if (plan) this.#tell(this.#stripe.invoiceEvent(this.#stripe.renew(plan.session)))
  }

  #randomPlan(): Purchase | undefined {
    const plans = this.#purchases.filter(({ session }) => session.subscription !== null)
    return plans.length > 0 ? this.#world.run.random.pick(plans) : undefined
  }

  async #refund(): Promise<void> {
    const intent = this.#randomPayment()
    if (!intent) return
    intent.refunded = Math.min(intent.amount, intent.refunded + this.#world.run.random.integer(1, 1200))
    this.#tell(this.#stripe.paymentEvent('charge.refunded', intent))
  }

  /** The response may be lost after Stripe has returned the money: the event says what happened. */
  async #refundByAdministrator(): Promise<void> {
    const { run, promises } = this.#world
    const paid = this.#payments()
    if (paid.length === 0) return
    const { orderId, session } = run.random.pick(paid)
    await this.#world.exclusively(orderId, async () => {
      await this.#world.send('POST', `/v1/admin/orders/${orderId}/refund`, {
        token: promises.administrator.accessToken,
        body: { amount: run.random.integer(1, 300) },
      })
      this.#tell(this.#stripe.paymentEvent('charge.refunded', this.#intentOf(session)!))
    })
  }

  async #dispute(): Promise<void> {
    const intent = this.#randomPayment()
    if (!intent || intent.dispute === 'lost') return
    intent.dispute = this.#world.run.random.pick(DISPUTES)
    this.#tell(this.#stripe.paymentEvent('charge.dispute.updated', intent))
  }

  /** In any order, and some of them twice. */
  async #deliver(): Promise<void> {
    const { random } = this.#world.run
    if (this.#events.length === 0) return
    const event = random.pick(this.#events)
    const { payload } = event
    const response = await this.#world.send('POST', '/v1/billing/events/stripe', {
      headers: { 'content-type': 'application/json', 'stripe-signature': eventSignature(payload) },
      file: Buffer.from(payload),
    })
    const index = this.#events.indexOf(event)
    if (response.status === 200 && index >= 0 && random.chance(0.8)) this.#events.splice(index, 1)
  }

  #tell(event: StripeEvent): void {
    this.#events.push({ payload: eventPayload(event) })
  }

  /** Of packs and upgrades: a plan would end by a refund. */
  #payments(): Purchase[] {
    return this.#purchases.filter(({ session, kind }) => kind !== 'plan' && session.intent !== null)
  }

  #randomPayment(): Intent | undefined {
    const paid = this.#payments()
    return paid.length > 0 ? this.#intentOf(this.#world.run.random.pick(paid).session) : undefined
  }

  #intentOf({ intent }: Session): Intent | undefined {
    return intent === null ? undefined : this.#stripe.intents.get(intent)
  }
}
