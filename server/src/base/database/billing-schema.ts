import type { OrderState, PaymentProviderName, PlanPeriod } from '@wayleave/contract/billing-states'
import type { Generated } from 'kysely'

/** The tables of billing. Money is in minor units of the currency. */
export interface BillingTables {
  products: {
    id: string
    kind: 'pack' | 'plan'
    /** The period of a plan; null for a pack. */
    period: PlanPeriod | null
    /** The current revision. */
    revision: number
    created_at: string
    retired_at: string | null
  }
  /** Never changed: a new price is a new revision. */
  product_revisions: {
    product_id: string
    revision: number
    name: string
    description: string
    price: number
    currency: string
    credits: number
    add_ons: string
    keeps_credits: number
    /** Limits of a plan, as JSON; what is missing is as the settings say. */
    limits: string
    created_at: string
  }
  orders: {
    id: string
    organization_id: string
    product_id: string
    revision: number
    quantity: number
    amount: number
    currency: string
    credits: number
    provider: PaymentProviderName
    /** The provider's own id of what is to be paid, such as a checkout session; unique for the provider. */
    reference: string | null
    /** The provider's own id of the payment, which refunds and disputes name. */
    payment_reference: string | null
    url: string | null
    state: OrderState
    reason: string
    refunded_amount: number
    /** Credits that refunds and disputes have taken back. */
    withdrawn_credits: number
    subscription_id: string | null
    period_start: string | null
    period_end: string | null
    /** Number of reminders sent. */
    reminders: number
    created_by: string
    created_at: string
    /** When it was booked first; null if it never was. */
    paid_at: string | null
    /** When the provider was last asked about it; empty if never. */
    checked_at: Generated<string>
    /** The order whose plan an upgrade replaces in the same period; null for other orders. */
    upgrades_from: string | null
  }
  /** Events of providers that were applied: each changes the books once. */
  payment_events: { id: string; kind: string; order_id: string | null; at: string }
  /** The last number that was used; its row is locked while an invoice is issued, so there are no gaps. */
  invoice_numbers: { prefix: string; last_number: number }
  invoices: {
    id: string
    organization_id: string
    order_id: string
    issued_at: string
    due_at: string
    /** Everything that stands on it, as JSON: an issued invoice never changes. */
    content: string
  }
  billing_profiles: {
    organization_id: string
    company: string
    address: string
    tax_number: string
  }
  subscriptions: {
    id: string
    organization_id: string
    product_id: string
    revision: number
    provider: PaymentProviderName
    /** The provider's own id, if the provider renews it. */
    reference: string | null
    state: 'active' | 'past-due' | 'ended'
    /** Periods are counted from here, so that one that began on January 31 ends on February 28 and March 31. */
    anchor: string
    periods: number
    period_start: string
    period_end: string
    cancels_at_end: number
    /** The plan that follows at the end of the period. */
    next_product_id: string | null
    /** Its revision, with the price that the organization agreed to; null if no plan follows. */
    next_revision: number | null
    /** Add-ons that the organization has because of it, as JSON; they are removed at its end. */
    granted_add_ons: string
    /** The order whose credits lapse at the end of the period. */
    credit_order_id: string | null
    grace_until: string | null
    created_at: string
    ended_at: string | null
    /** When the provider was last asked about it; empty if never. */
    checked_at: Generated<string>
    /** 1 if it has ended here and is not yet cancelled at the provider. */
    to_cancel: Generated<number>
    /** 1 if it was changed here and the provider may not know yet what the next period costs. */
    to_reprice: Generated<number>
  }
  /** Credits that a member may spend in a month (UTC); without a row, there is no limit. */
  member_budgets: { organization_id: string; user_id: string; credit_limit: number }
  /** Credits that a member has spent in a month (UTC), with personal keys and in the console. */
  member_spending: { organization_id: string; user_id: string; month: string; credits: number }
  /** For refunds of orders that have an invoice. */
  credit_notes: {
    id: string
    organization_id: string
    order_id: string
    invoice_id: string
    /** What was refunded, without tax. */
    amount: number
    issued_at: string
    /** Everything that stands on it, as JSON. */
    content: string
  }
  /** The provider's own id of an organization. */
  payment_customers: { organization_id: string; provider: PaymentProviderName; reference: string }
}
