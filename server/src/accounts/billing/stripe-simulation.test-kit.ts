import type { TestContext } from 'node:test'
import Stripe from 'stripe'
import {
  eventPayload,
  type Intent,
  type Invoice,
  SECRET_KEY,
  type Session,
  type StripeEvent,
  StripeSimulation,
  WEBHOOK_SECRET,
} from '../../../../scripts/test-servers/stripe-simulation.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import type { Answer, TestServer } from '../../testing/test-server.ts'

interface SentEvent {
  id: string
  livemode: boolean
  account: string
  secret: string
  timestamp: number
  payload: string
}

/** The simulation with events that are signed by the library's own test signer; the defaults are right. */
export class SignedStripe extends StripeSimulation {
  readonly #stripe = new Stripe(SECRET_KEY)

  async open(t: TestContext): Promise<this> {
    cleanUp(t, await this.listen())
    return this
  }

  send(service: TestServer, event: StripeEvent, wrong: Partial<SentEvent> = {}): Promise<Answer> {
    const { secret = WEBHOOK_SECRET, timestamp } = wrong
    const payload = eventPayload(event, wrong)
    const signature = this.#stripe.webhooks.generateTestHeaderString({
      payload,
      secret,
      ...(timestamp !== undefined && { timestamp }),
    })
    const headers = { 'stripe-signature': signature, 'content-type': 'application/json' }
    return service.request('POST', '/v1/billing/events/stripe', { body: wrong.payload ?? payload, headers })
  }

  tellSession(service: TestServer, session: Session, wrong: Partial<SentEvent> = {}): Promise<Answer> {
    return this.send(service, this.sessionEvent(session), wrong)
  }

  tellPayment(service: TestServer, type: string, intent: Intent): Promise<Answer> {
    return this.send(service, this.paymentEvent(type, intent))
  }

  tellInvoice(service: TestServer, invoice: Invoice, type = 'invoice.paid'): Promise<Answer> {
    return this.send(service, this.invoiceEvent(invoice, type))
  }
}
