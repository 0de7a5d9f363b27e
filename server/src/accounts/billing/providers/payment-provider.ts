import type { PaymentProviderName, PlanPeriod } from '@wayleave/contract/billing-states'

/** An order that is about to be stored. */
export interface OrderDraft {
  id: string
  organizationId: string
  productName: string
  quantity: number
  /** The price of one unit. */
  price: number
  currency: string
  /** The period of a plan; null for a pack. */
  period: PlanPeriod | null
  /** The mail address of the member who orders. */
  email: string
  /** The provider's own id of the organization, if it has paid before. */
  customer: string | null
  /** The page that the payer returns to. */
  returnUrl: string
}

export interface StartedPayment {
  /** The provider's own id of what is to be paid, unique for the provider. */
  reference: string
  url: string
  isPaid: boolean
}

/** What a provider says about the payment of an order now. Applying the same state twice changes nothing. */
export interface Payment {
  status: 'open' | 'paid' | 'cancelled'
  /** Without tax, in minor units. */
  amount: number
  currency: string
  /** How much of the amount was returned to the payer. */
  refundedAmount: number
  isDisputed: boolean
  /** The provider's own id of the payment, which refunds and disputes name; null while there is none. */
  reference: string | null
  /** The provider's own id of the subscription that the payment began; null for a pack. */
  subscriptionReference: string | null
  /** The provider's own id of the organization; null if it has none. */
  customerReference: string | null
}

/** The references of an order that a provider needs to find its payment. */
export interface PaymentReferences {
  id: string
  amount: number
  currency: string
  reference: string | null
}

/** Takes payments. No card data ever reaches the service. */
export interface PaymentProvider {
  readonly name: PaymentProviderName
  /** Whether open orders get an invoice of the service. */
  readonly issuesInvoices: boolean
  /** Called before the order is stored: a failure leaves nothing behind that anybody knows the address of. */
  begin(draft: OrderDraft): Promise<StartedPayment>
  /** Asks the provider; null if only an administrator knows. */
  paymentOf(order: PaymentReferences): Promise<Payment | null>
  /** Returns money to the payer. */
  refund(
    order: PaymentReferences & { payment_reference: string | null; refunded_amount: number },
    amount: number,
  ): Promise<void>
  /** Ends a plan, or makes it end with its period. Does nothing if the service renews plans itself. */
  cancelPlan(reference: string, when: 'now' | 'at-end'): Promise<void>
  /** Sets what the next periods of a plan cost, or that there are none. Does nothing if the service renews plans itself. */
  repricePlan(reference: string, plan: RepricedPlan): Promise<void>
  /** A page of the provider where an organization sees its invoices and changes how it pays; null without one. */
  portal(customer: string, returnUrl: string): Promise<string | null>
}

export interface RepricedPlan {
  productId: string
  revision: number
  name: string
  price: number
  currency: string
  period: PlanPeriod
  /** Whether it ends with its period. */
  cancelsAtEnd: boolean
}

/** A payment of the whole amount, for providers that are part of the service. */
export function paymentInFull({ amount, currency }: PaymentReferences): Payment {
  return {
    status: 'paid',
    amount,
    currency,
    refundedAmount: 0,
    isDisputed: false,
    reference: null,
    subscriptionReference: null,
    customerReference: null,
  }
}
