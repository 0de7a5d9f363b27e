import type { Stripe } from 'stripe'
import { Problem } from '../../../base/problem.ts'
import type {
  OrderDraft,
  Payment,
  PaymentProvider,
  PaymentReferences,
  RepricedPlan,
  StartedPayment,
} from '../providers/payment-provider.ts'

export interface StripeSettings {
  secretKey: string
  webhookSecret: string
  /** Another address of the API, for tests. */
  api: string | null
  /** Whether Stripe adds taxes to the prices. */
  hasTax: boolean
  /** How long to wait for a response, in milliseconds. */
  timeoutMs: number
}

/** How old a signed event may be, in seconds. */
const TOLERANCE = 300
/** Disputes that the seller has not lost and that are not under way. */
const ENDED_WELL: ReadonlySet<string> = new Set(['won', 'warning_closed', 'prevented'])

/** The state of a plan that Stripe renews. */
export interface StripePlan {
  isEnded: boolean
  cancelsAtEnd: boolean
  latestInvoice: string | null
}

/** Payments by Stripe Checkout: card data is entered on its pages. Amounts are compared without tax. */
export class StripeProvider implements PaymentProvider {
  readonly name = 'stripe'
  /** Stripe sends its own. */
  readonly issuesInvoices = false
  readonly #settings: StripeSettings
  #client: Promise<Stripe> | null = null

  constructor(settings: StripeSettings) {
    this.#settings = settings
  }

  begin(draft: OrderDraft): Promise<StartedPayment> {
    return this.#ask(async (stripe) => {
      const { id, period } = draft
      const metadata = { orderId: id }
      const session = await stripe.checkout.sessions.create(
        {
          client_reference_id: id,
          metadata,
          ...(draft.customer === null ? { customer_email: draft.email } : { customer: draft.customer }),
          success_url: draft.returnUrl,
          cancel_url: draft.returnUrl,
          line_items: [{ quantity: draft.quantity, price_data: priceOf(draft) }],
          ...(this.#settings.hasTax && {
            automatic_tax: { enabled: true },
            ...(draft.customer !== null && { customer_update: { address: 'auto', name: 'auto' } }),
          }),
          ...(period === null
            ? {
                mode: 'payment',
                payment_intent_data: { metadata },
                invoice_creation: { enabled: true },
                // The portal shows the invoices of a customer.
                ...(draft.customer === null && { customer_creation: 'always' }),
              }
            : { mode: 'subscription', subscription_data: { metadata } }),
        },
        { idempotencyKey: id },
      )
      if (!session.url) throw new Error('Stripe returned a session without an address')
      return { reference: session.id, url: session.url, isPaid: false }
    })
  }

  paymentOf(order: PaymentReferences): Promise<Payment | null> {
    const { reference } = order
    if (reference === null) return Promise.resolve(null)
    return this.#ask((stripe) =>
      reference.startsWith('in_') ? invoicePayment(stripe, reference) : sessionPayment(stripe, reference),
    )
  }

  async refund(
    order: PaymentReferences & { payment_reference: string | null; refunded_amount: number },
    amount: number,
  ): Promise<void> {
    const payment_intent = order.payment_reference
    if (payment_intent === null) throw new Problem('conflict', 'Stripe has no payment for this order.')
    await this.#ask(async (stripe) => {
      const isRest = order.refunded_amount + amount >= order.amount
      const { amount_received } = await stripe.paymentIntents.retrieve(payment_intent)
      // With tax, the payer gets the same part of it back.
      const gross = Math.round((amount * amount_received) / order.amount)
      await stripe.refunds.create(
        { payment_intent, ...(!isRest && { amount: gross }) },
        // Two administrators who refund the same at once refund it once.
        { idempotencyKey: `${order.id}:${order.refunded_amount}:${amount}` },
      )
    })
  }

  async cancelPlan(reference: string, when: 'now' | 'at-end'): Promise<void> {
    await this.#ask(async (stripe) => {
      if (when === 'at-end') {
        await stripe.subscriptions.update(reference, { cancel_at_period_end: true })
        return
      }
      // Stripe refuses to cancel one that has ended.
      if (!hasEnded(await stripe.subscriptions.retrieve(reference)))
        await stripe.subscriptions.cancel(reference)
    })
  }

  /** Without a proration by Stripe: the price holds from the next invoice on, and an upgrade itself is an order. */
  async repricePlan(reference: string, plan: RepricedPlan): Promise<void> {
    await this.#ask(async (stripe) => {
      const subscription = await stripe.subscriptions.retrieve(reference)
      const item = subscription.items.data[0]
      if (!item || hasEnded(subscription)) return
      const idempotencyKey = `${plan.productId}:${plan.revision}`
      const { id: product } = await stripe.products.create({ name: plan.name }, { idempotencyKey })
      const price_data = {
        product,
        currency: plan.currency.toLowerCase(),
        unit_amount: plan.price,
        recurring: { interval: plan.period },
      }
      const items = [{ id: item.id, price_data }]
      await stripe.subscriptions.update(reference, {
        items,
        proration_behavior: 'none',
        cancel_at_period_end: plan.cancelsAtEnd,
      })
    })
  }

  portal(customer: string, returnUrl: string): Promise<string> {
    return this.#ask(async (stripe) => {
      const { url } = await stripe.billingPortal.sessions.create({ customer, return_url: returnUrl })
      return url
    })
  }

  planOf(reference: string): Promise<StripePlan> {
    return this.#ask(async (stripe) => {
      const subscription = await stripe.subscriptions.retrieve(reference)
      const { latest_invoice } = subscription
      return {
        isEnded: hasEnded(subscription),
        // The portal of Stripe sets a time instead.
        cancelsAtEnd: subscription.cancel_at_period_end || (subscription.cancel_at ?? null) !== null,
        latestInvoice: idOf(latest_invoice),
      }
    })
  }

  /** The order that a payment belongs to by its metadata; null if it names none. */
  orderOfPayment(paymentIntent: string): Promise<string | null> {
    return this.#ask(async (stripe) => {
      const { metadata } = await stripe.paymentIntents.retrieve(paymentIntent)
      return metadata?.['orderId'] ?? null
    })
  }

  /** Throws 400 if the event was not sent by Stripe to this account, in this mode, just now. */
  async verifiedEvent(body: Buffer, signature: string | undefined): Promise<Stripe.Event> {
    const { webhookSecret, secretKey } = this.#settings
    const stripe = await this.#open()
    let event: Stripe.Event
    try {
      event = stripe.webhooks.constructEvent(body, signature ?? '', webhookSecret, TOLERANCE)
    } catch {
      throw new Problem('event-refused')
    }
    const isLive = /^(sk|rk)_live_/.test(secretKey)
    if (event.livemode !== isLive)
      throw new Problem('event-refused', `The event is of the ${event.livemode ? 'live' : 'test'} mode.`)
    if (event.account) throw new Problem('event-refused', 'The event is of another account.')
    return event
  }

  /** Loaded when it is needed: most commands never ask Stripe. */
  #open(): Promise<Stripe> {
    const { secretKey, api, timeoutMs: timeout } = this.#settings
    this.#client ??= import('stripe').then(({ default: Client }) => {
      const address = api === null ? null : new URL(api)
      return new Client(secretKey, {
        timeout,
        maxNetworkRetries: 1,
        telemetry: false,
        ...(address && {
          host: address.hostname,
          port: address.port || (address.protocol === 'https:' ? '443' : '80'),
          protocol: address.protocol === 'https:' ? 'https' : 'http',
        }),
      })
    })
    return this.#client
  }

  async #ask<T>(work: (stripe: Stripe) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#open())
    } catch (error) {
      if (error instanceof Problem) throw error
      // Only type and code: the error has the request and parts of the key.
      const { type = (error as Error).name, code = '', statusCode = '' } = error as Record<string, unknown>
      throw new Problem('payment-unavailable', undefined, {
        headers: { 'retry-after': '30' },
        cause: new Error(`Stripe: ${type} ${code} ${statusCode}`),
      })
    }
  }
}

function hasEnded({ status }: Stripe.Subscription): boolean {
  return status === 'canceled' || status === 'incomplete_expired'
}

function priceOf({ currency, price, productName, period }: OrderDraft) {
  return {
    currency: currency.toLowerCase(),
    unit_amount: price,
    product_data: { name: productName },
    ...(period !== null && { recurring: { interval: period } }),
  }
}

async function sessionPayment(stripe: Stripe, id: string): Promise<Payment> {
  const session = await stripe.checkout.sessions.retrieve(id)
  const isPaid = session.payment_status === 'paid' || session.payment_status === 'no_payment_required'
  const invoice = idOf(session.invoice)
  const intent =
    idOf(session.payment_intent) ??
    (isPaid && invoice !== null ? await intentOfInvoice(stripe, invoice) : null)
  const amount = session.amount_subtotal ?? 0
  return {
    status: isPaid ? 'paid' : session.status === 'expired' ? 'cancelled' : 'open',
    amount,
    currency: (session.currency ?? '').toUpperCase(),
    subscriptionReference: idOf(session.subscription),
    customerReference: idOf(session.customer),
    ...(await returnedOf(stripe, isPaid ? intent : null, amount)),
  }
}

async function invoicePayment(stripe: Stripe, id: string): Promise<Payment> {
  const invoice = await stripe.invoices.retrieve(id)
  const isPaid = invoice.status === 'paid'
  const isVoid = invoice.status === 'void' || invoice.status === 'uncollectible'
  return {
    status: isPaid ? 'paid' : isVoid ? 'cancelled' : 'open',
    amount: invoice.subtotal,
    currency: invoice.currency.toUpperCase(),
    subscriptionReference: null,
    customerReference: idOf(invoice.customer),
    ...(await returnedOf(stripe, isPaid ? await intentOfInvoice(stripe, id) : null, invoice.subtotal)),
  }
}

async function intentOfInvoice(stripe: Stripe, invoice: string): Promise<string | null> {
  const { data } = await stripe.invoicePayments.list({ invoice, limit: 1 })
  return idOf(data[0]?.payment.payment_intent ?? null)
}

/** What of a payment was refunded or is disputed. A dispute that was lost is a refund. */
async function returnedOf(
  stripe: Stripe,
  reference: string | null,
  amount: number,
): Promise<Pick<Payment, 'refundedAmount' | 'isDisputed' | 'reference'>> {
  if (reference === null) return { refundedAmount: 0, isDisputed: false, reference }
  const { latest_charge } = await stripe.paymentIntents.retrieve(reference, { expand: ['latest_charge'] })
  const charge = latest_charge as Stripe.Charge | null
  if (charge === null) return { refundedAmount: 0, isDisputed: false, reference }
  const isWhole = charge.amount_refunded >= charge.amount && charge.amount > 0
  const refundedAmount = isWhole
    ? amount
    : Math.floor((amount * charge.amount_refunded) / (charge.amount || 1))
  if (!charge.disputed) return { refundedAmount, isDisputed: false, reference }
  const { data: disputes } = await stripe.disputes.list({ payment_intent: reference, limit: 10 })
  const isLost = disputes.some(({ status }) => status === 'lost')
  const isDisputed = disputes.some(({ status }) => status !== 'lost' && !ENDED_WELL.has(status))
  return { refundedAmount: isLost ? amount : refundedAmount, isDisputed, reference }
}

function idOf(object: string | { id: string } | null): string | null {
  return typeof object === 'string' ? object : (object?.id ?? null)
}
