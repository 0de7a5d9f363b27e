import { createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export const SECRET_KEY = 'sk_test_simulation'
export const WEBHOOK_SECRET = 'whsec_simulation'

export interface Intent {
  id: string
  metadata: Record<string, string>
  amount: number
  refunded: number
  dispute: string | null
}

export interface Session {
  id: string
  orderId: string
  mode: string
  amount: number
  currency: string
  intent: string | null
  subscription: string | null
  invoice: string | null
  status: 'open' | 'complete' | 'expired'
}

export interface Invoice {
  id: string
  subscription: string
  amount: number
  currency: string
  intent: string
  reason: 'subscription_create' | 'subscription_cycle'
  status: 'paid' | 'open'
}

/** The state of Stripe as far as the service asks for it, over loopback. The tests decide what happens there. */
export class StripeSimulation {
  readonly sessions = new Map<string, Session>()
  readonly intents = new Map<string, Intent>()
  readonly invoices = new Map<string, Invoice>()
  readonly subscriptions = new Map<
    string,
    { id: string; status: string; cancelsAtEnd: boolean; orderId: string; price: number }
  >()
  /** `hang` never responds, `fail` responds 500. */
  mode: 'work' | 'hang' | 'fail' = 'work'
  /** Number of requests that it never responds to. */
  waiting = 0
  url = ''

  /** Begins to listen. The result ends that. */
  async listen(): Promise<() => void> {
    const server = createServer((request, response) => void this.#respond(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return () => {
      server.closeAllConnections()
      server.close()
    }
  }

  settings() {
    return {
      payments: ['stripe'] as ['stripe'],
      stripeSecretKey: SECRET_KEY,
      stripeWebhookSecret: WEBHOOK_SECRET,
      stripeApi: this.url,
    }
  }

  sessionOf(orderId: string): Session {
    return [...this.sessions.values()].find((session) => session.orderId === orderId)!
  }

  /** The payer enters a card. */
  pay(session: Session, wrong: { amount?: number; currency?: string } = {}): Intent {
    Object.assign(session, wrong, { status: 'complete' })
    const intent = this.#addIntent(
      session.amount,
      session.mode === 'payment' ? { orderId: session.orderId } : {},
    )
    if (session.mode === 'payment') session.intent = intent.id
    else {
      session.subscription = newId('sub')
      const { subscription, orderId, amount, currency } = session
      this.subscriptions.set(subscription, {
        id: subscription,
        status: 'active',
        cancelsAtEnd: false,
        orderId,
        price: amount,
      })
      session.invoice = this.#addInvoice(
        { subscription, amount, currency, intent: intent.id, status: 'paid' },
        'subscription_create',
      ).id
    }
    return intent
  }

  renew(session: Session, status: Invoice['status'] = 'paid'): Invoice {
    const { subscription, currency } = session
    const amount = this.subscriptions.get(subscription!)!.price
    const intent = this.#addIntent(amount, {})
    return this.#addInvoice(
      { subscription: subscription!, amount, currency, intent: intent.id, status },
      'subscription_cycle',
    )
  }

  sessionEvent({ id }: Session): StripeEvent {
    return { type: 'checkout.session.completed', object: { id, object: 'checkout.session' } }
  }

  paymentEvent(type: string, { id: payment_intent }: Intent): StripeEvent {
    return { type, object: { id: newId('ch'), payment_intent } }
  }

  invoiceEvent({ id, subscription, reason }: Invoice, type = 'invoice.paid'): StripeEvent {
    const { orderId } = this.subscriptions.get(subscription)!
    const parent = { subscription_details: { subscription, metadata: { orderId } } }
    return { type, object: { id, object: 'invoice', billing_reason: reason, parent } }
  }

  #addIntent(amount: number, metadata: Record<string, string>): Intent {
    const intent = { id: newId('pi'), metadata, amount, refunded: 0, dispute: null }
    this.intents.set(intent.id, intent)
    return intent
  }

  #addInvoice(invoice: Omit<Invoice, 'id' | 'reason'>, reason: Invoice['reason']): Invoice {
    const added = { ...invoice, id: newId('in'), reason }
    this.invoices.set(added.id, added)
    return added
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request))
    if (this.mode === 'hang') {
      this.waiting++
      return
    }
    const url = new URL(request.url!, 'http://a')
    const result = this.mode === 'fail' ? null : this.#resource(request.method!, url, form)
    response.setHeader('content-type', 'application/json')
    response.statusCode = this.mode === 'fail' ? 500 : result === null ? 404 : 200
    response.end(
      JSON.stringify(result ?? { error: { type: 'invalid_request_error', message: 'No such object' } }),
    )
  }

  #resource(method: string, { pathname, searchParams }: URL, form: URLSearchParams): object | null {
    const [, , kind, ...rest] = pathname.split('/')
    const last = rest.at(-1) ?? ''
    switch (kind) {
      case 'checkout':
        return method === 'POST' ? this.#createSession(form) : sessionObject(this.sessions.get(last))
      case 'payment_intents':
        return intentObject(this.intents.get(last))
      case 'refunds':
        return this.#refund(form)
      case 'disputes': {
        const status = this.intents.get(searchParams.get('payment_intent')!)?.dispute
        return { object: 'list', data: status ? [{ id: 'dp_1', status }] : [] }
      }
      case 'invoices':
        return invoiceObject(this.invoices.get(last))
      case 'invoice_payments': {
        const invoice = this.invoices.get(searchParams.get('invoice')!)
        return { object: 'list', data: invoice ? [{ payment: { payment_intent: invoice.intent } }] : [] }
      }
      case 'products':
        return { id: newId('prod'), object: 'product' }
      case 'billing_portal':
        return { url: `https://portal.example/${form.get('customer')}` }
      case 'subscriptions':
        return this.#subscription(method, last, form)
      default:
        return null
    }
  }

  #createSession(form: URLSearchParams): object {
    const session: Session = {
      id: newId('cs'),
      orderId: form.get('client_reference_id')!,
      mode: form.get('mode')!,
      amount:
        Number(form.get('line_items[0][price_data][unit_amount]')) *
        Number(form.get('line_items[0][quantity]')),
      currency: form.get('line_items[0][price_data][currency]')!,
      intent: null,
      subscription: null,
      invoice: null,
      status: 'open',
    }
    this.sessions.set(session.id, session)
    return sessionObject(session)!
  }

  #refund(form: URLSearchParams): object {
    const intent = this.intents.get(form.get('payment_intent')!)!
    const amount = form.get('amount')
    intent.refunded = amount === null ? intent.amount : intent.refunded + Number(amount)
    return { id: newId('re'), object: 'refund' }
  }

  #subscription(method: string, reference: string, form: URLSearchParams): object | null {
    const subscription = this.subscriptions.get(reference)
    if (!subscription) return null
    if (method === 'DELETE') {
      if (subscription.status === 'canceled') return null
      subscription.status = 'canceled'
    }
    const price = form.get('items[0][price_data][unit_amount]')
    if (price !== null) subscription.price = Number(price)
    const cancelsAtEnd = form.get('cancel_at_period_end')
    if (cancelsAtEnd !== null) subscription.cancelsAtEnd = cancelsAtEnd === 'true'
    const invoices = [...this.invoices.values()].filter((invoice) => invoice.subscription === reference)
    return {
      id: reference,
      object: 'subscription',
      status: subscription.status,
      cancel_at_period_end: subscription.cancelsAtEnd,
      items: { object: 'list', data: [{ id: 'si_1' }] },
      latest_invoice: invoices.at(-1)?.id ?? null,
    }
  }
}

/** What an event is about; its envelope is made when it is sent. */
export interface StripeEvent {
  type: string
  object: object
}

/** The body of an event. */
export function eventPayload(
  { type, object }: StripeEvent,
  {
    id = newId('evt'),
    livemode = false,
    account,
  }: { id?: string; livemode?: boolean; account?: string } = {},
): string {
  return JSON.stringify({ id, object: 'event', type, livemode, account, data: { object } })
}

/** The header `stripe-signature`, as the documentation of Stripe describes it. */
export function eventSignature(payload: string): string {
  const time = Math.floor(Date.now() / 1000)
  const signature = createHmac('sha256', WEBHOOK_SECRET).update(`${time}.${payload}`).digest('hex')
  return `t=${time},v1=${signature}`
}

function newId(kind: string): string {
  return `${kind}_${randomBytes(8).toString('hex')}`
}

function sessionObject(session: Session | undefined): object | null {
  if (!session) return null
  const { amount, currency, intent, subscription, invoice, status, mode } = session
  return {
    id: session.id,
    object: 'checkout.session',
    url: `https://checkout.example/${session.id}`,
    mode,
    status,
    payment_status: status === 'complete' ? 'paid' : 'unpaid',
    amount_subtotal: amount,
    currency,
    payment_intent: intent,
    subscription,
    invoice,
    customer: 'cus_1',
  }
}

function intentObject(intent: Intent | undefined): object | null {
  if (!intent) return null
  const { amount, refunded, dispute, metadata } = intent
  const latest_charge = {
    id: 'ch_1',
    object: 'charge',
    amount,
    amount_refunded: refunded,
    disputed: dispute !== null,
  }
  return { id: intent.id, object: 'payment_intent', metadata, amount_received: amount, latest_charge }
}

function invoiceObject(invoice: Invoice | undefined): object | null {
  if (!invoice) return null
  return {
    id: invoice.id,
    object: 'invoice',
    status: invoice.status,
    subtotal: invoice.amount,
    customer: 'cus_1',
    currency: invoice.currency,
  }
}
