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
  isPlan: boolean
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

  constructor(world: World, stripe: StripeSimulation) {
    this.#world = world
    this.#stripe = stripe
  }

  async prepare(): Promise<void> {
    const common = { currency: 'EUR', price: 1900, credits: 100 }
    this.#packId = await this.#addProduct({ ...common, kind: 'pack', name: 'Hundred credits' })
    this.#planId = await this.#addProduct({ ...common, kind: 'plan', name: 'Town plan', period: 'month' })
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

  #checkPurchase({ session, isPlan }: Purchase, order: ReadOrder | undefined): void {
    const { run } = this.#world
    if (!run.expect(order !== undefined, 'an order that was told is stored', 'it is missing')) return
    const intent = this.#intentOf(session)
    if (isPlan || !intent) {
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
    run.expect(order!.withdrawnCredits === withdrawn, 'credits are taken back once', () =>
      JSON.stringify({ order, withdrawn }),
    )
  }

  /** Each invoice of Stripe that is paid is one order. */
  #checkPeriods(account: AccountPromise, orders: ReadOrder[]): void {
    const subscriptions = this.#purchases
      .filter((each) => each.account === account && each.isPlan)
      .map(({ session }) => session.subscription)
    const invoices = [...this.#stripe.invoices.values()].filter(({ subscription }) =>
      subscriptions.includes(subscription),
    )
    const paid = orders.filter(({ kind, paidAt }) => kind === 'plan' && paidAt !== null)
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
    const hasPlan = this.#purchases.some((each) => each.account === account && each.isPlan)
    const isPlan = !hasPlan && run.random.chance(0.2)
    const body = { productId: isPlan ? this.#planId : this.#packId }
    await this.#world.exclusively(`plan of ${account.organizationId}`, async () => {
      const token = account.accessToken
      const { status, body: started } = await this.#world.send('POST', '/v1/billing/checkout', {
        token,
        body,
      })
      // A customer who got no response pays nothing.
      if (status !== 201) return
      const { orderId } = started
      this.#purchases.push({ account, orderId, isPlan, session: this.#stripe.sessionOf(orderId) })
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
    const plans = this.#purchases.filter(({ session }) => session.subscription !== null)
    if (plans.length === 0) return
    const { session } = this.#world.run.random.pick(plans)
    this.#tell(this.#stripe.invoiceEvent(this.#stripe.renew(session)))
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
    const paid = this.#purchases.filter(({ session, isPlan }) => !isPlan && session.intent !== null)
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

  /** Of a pack: a plan would end by a refund. */
  #randomPayment(): Intent | undefined {
    const paid = this.#purchases.filter(({ session, isPlan }) => !isPlan && session.intent !== null)
    return paid.length > 0 ? this.#intentOf(this.#world.run.random.pick(paid).session) : undefined
  }

  #intentOf({ intent }: Session): Intent | undefined {
    return intent === null ? undefined : this.#stripe.intents.get(intent)
  }
}
