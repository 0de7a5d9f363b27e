import { type Static, Type } from 'typebox'
import { ADD_ONS } from '../add-ons.ts'
import { ORDER_STATES, PAYMENT_PROVIDERS, PLAN_PERIODS, PRODUCT_KINDS } from '../billing-states.ts'
import { documentedAs, LINE_OF_100, NO_NUL, nullable, oneOf, time } from './schema-parts.ts'

const SUBSCRIPTION_STATES = ['active', 'past-due', 'ended'] as const

/** Far below the largest exact integer (2^53), also if multiplied by the largest quantity. */
const MAX_PRICE = 1_000_000_000
const MAX_QUANTITY = 1000
const MAX_PRODUCT_CREDITS = 1_000_000_000

const price = Type.Integer({
  minimum: 0,
  maximum: MAX_PRICE,
  description: 'In minor units of the currency, such as cents.',
})
const currency = Type.String({
  pattern: '^[A-Z]{3}$',
  description: 'ISO 4217, such as EUR.',
})
const amount = Type.Integer({ description: 'In minor units of the currency, without tax.' })
const period = nullable(oneOf(PLAN_PERIODS, { description: 'How long one payment for a plan lasts.' }))
const addOns = Type.Array(oneOf(ADD_ONS), { description: 'Add-ons of a plan, while it lasts.', maxItems: 20 })
const keepsCredits = Type.Boolean({
  description:
    'Whether credits of a plan that are left at the end of a period are kept. Otherwise they lapse.',
})

const planLimit = (maximum: number, description: string) =>
  nullable(Type.Integer({ minimum: 1, maximum, description }))

const planLimitsSchema = Type.Object(
  {
    requestsPerMinute: planLimit(
      100_000_000,
      'Of each key, of all keys of the organization together, and of all keys of one member together.',
    ),
    featuresPerDay: planLimit(
      Number.MAX_SAFE_INTEGER,
      'Features over OGC API that the keys of the organization, or those of one member, may read in a day (UTC).',
    ),
    keys: planLimit(1_000_000, 'Keys of the organization and personal keys of its members in it, together.'),
    members: planLimit(1_000_000, 'Members of the organization.'),
  },
  { description: 'Limits of a plan, while it lasts. Null: as without a plan.' },
)

/** What a plan limits. */
export type PlanLimits = Static<typeof planLimitsSchema>

const revisionFields = {
  name: Type.String({
    maxLength: 400,
    description: 'One line of 1 to 100 characters.',
    ...documentedAs({ pattern: LINE_OF_100 }),
  }),
  description: Type.String({ maxLength: 1000, pattern: NO_NUL }),
  price,
  currency,
  credits: Type.Integer({
    minimum: 0,
    maximum: MAX_PRODUCT_CREDITS,
    description: 'What one pack, or each period of a plan, adds to the balance.',
  }),
  addOns,
  keepsCredits,
  limits: planLimitsSchema,
}

export const productSchema = Type.Object({
  id: Type.String(),
  revision: Type.Integer({ description: 'Each change is a new revision. Orders keep theirs.' }),
  kind: oneOf(PRODUCT_KINDS),
  period,
  ...revisionFields,
  createdAt: time,
  retiredAt: nullable(Type.String({ format: 'date-time', description: 'Since when it is not sold.' })),
})

/** A credit pack or a plan. */
export type Product = Static<typeof productSchema>

const {
  name: productName,
  price: productPrice,
  currency: productCurrency,
  limits: _limits,
  ...optionalFields
} = revisionFields

const changedLimits = Type.Optional(
  Type.Partial(planLimitsSchema, {
    additionalProperties: false,
    description: 'Limits of a plan. What is left out is as without a plan.',
  }),
)

export const newProductSchema = Type.Object(
  {
    kind: oneOf(PRODUCT_KINDS),
    name: productName,
    price: productPrice,
    currency: productCurrency,
    period: Type.Optional(oneOf(PLAN_PERIODS)),
    ...Type.Partial(Type.Object(optionalFields)).properties,
    limits: changedLimits,
  },
  { additionalProperties: false },
)

export type NewProduct = Static<typeof newProductSchema>

export const productChangeSchema = Type.Object(
  { ...Type.Partial(Type.Object(revisionFields)).properties, limits: changedLimits },
  { additionalProperties: false, minProperties: 1 },
)

export type ProductChange = Static<typeof productChangeSchema>

const returnPath = Type.Optional(
  Type.String({
    maxLength: 1000,
    pattern: '^/(?![/\\\\])[\\x21-\\x7e]*$',
    description: 'A path of the service that the payer comes back to.',
  }),
)

export const orderedUpgradeSchema = Type.Object(
  { productId: Type.String({ maxLength: 40 }), returnPath },
  { additionalProperties: false },
)

export const checkoutSchema = Type.Object(
  {
    productId: Type.String({ maxLength: 40 }),
    quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_QUANTITY })),
    provider: Type.Optional(
      oneOf(PAYMENT_PROVIDERS, { description: 'Without it, the first one that the service has.' }),
    ),
    returnPath,
  },
  { additionalProperties: false },
)

export type Checkout = Static<typeof checkoutSchema>

export const startedCheckoutSchema = Type.Object({
  orderId: Type.String(),
  url: Type.String({ description: 'Where to pay, or where to see the order.' }),
  state: oneOf(ORDER_STATES),
})

export type StartedCheckout = Static<typeof startedCheckoutSchema>

export const orderSchema = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  state: oneOf(ORDER_STATES, {
    description: '`held`: a person has to look at it, or the payer disputes the payment.',
  }),
  reason: Type.String({ description: 'Why it is held or cancelled; otherwise empty.' }),
  provider: oneOf(PAYMENT_PROVIDERS),
  productId: Type.String(),
  revision: Type.Integer(),
  productName: Type.String(),
  kind: oneOf(PRODUCT_KINDS),
  quantity: Type.Integer(),
  amount,
  currency,
  credits: Type.Integer({ description: 'What it adds to the balance when it is paid.' }),
  refundedAmount: Type.Integer({ description: 'In minor units.' }),
  withdrawnCredits: Type.Integer({ description: 'Credits that refunds and disputes took back.' }),
  url: nullable(Type.String({ description: 'Where to pay while it is open.' })),
  invoiceId: nullable(Type.String()),
  subscriptionId: nullable(Type.String()),
  periodStart: nullable(time),
  periodEnd: nullable(time),
  createdAt: time,
  paidAt: nullable(time),
})

export type Order = Static<typeof orderSchema>

export const adminOrderSchema = Type.Object({
  ...orderSchema.properties,
  organizationName: Type.String(),
})

export type AdminOrder = Static<typeof adminOrderSchema>

export const invoiceSchema = Type.Object({
  id: Type.String({ description: 'The number of the invoice or credit note.' }),
  kind: oneOf(['invoice', 'credit-note'], {
    description: 'A credit note is for a refund or a cancelled order.',
  }),
  invoiceId: nullable(Type.String({ description: 'Of a credit note: the invoice that it corrects.' })),
  orderId: Type.String(),
  amount: Type.Integer({ description: 'In minor units of the currency, with tax.' }),
  currency,
  issuedAt: time,
  dueAt: nullable(Type.String({ ...time, description: 'Null if the order was cancelled.' })),
  paidAt: nullable(time),
  url: Type.String({ description: 'The path of the PDF file.' }),
})

export type InvoiceRecord = Static<typeof invoiceSchema>

export const subscriptionSchema = Type.Object({
  id: Type.String(),
  state: oneOf(SUBSCRIPTION_STATES, {
    description: '`past-due`: the payment for the current period is missing.',
  }),
  provider: oneOf(PAYMENT_PROVIDERS),
  productId: Type.String(),
  productName: Type.String(),
  credits: Type.Integer({ description: 'For each period.' }),
  addOns: Type.Array(oneOf(ADD_ONS)),
  limits: planLimitsSchema,
  amount,
  currency,
  period: oneOf(PLAN_PERIODS),
  periodStart: time,
  periodEnd: time,
  cancelsAtEnd: Type.Boolean({ description: 'Whether it ends with the period.' }),
  nextProductId: nullable(Type.String({ description: 'The plan that follows at the end of the period.' })),
  graceUntil: nullable(
    Type.String({
      format: 'date-time',
      description: 'While past due: it ends if nothing is paid until then.',
    }),
  ),
})

export type SubscriptionRecord = Static<typeof subscriptionSchema>

export const planUpgradeSchema = Type.Object({
  productId: Type.String(),
  amount: Type.Integer({
    description: 'The difference of the prices for the rest of the period, in minor units, without tax.',
  }),
  currency,
  credits: Type.Integer({
    description: 'The difference of the credits for the rest of the period.',
  }),
})

/** What a larger plan costs in the middle of a period. */
export type PlanUpgrade = Static<typeof planUpgradeSchema>

const line = (maxLength: number, description: string) =>
  Type.String({ maxLength, pattern: '^[^\\x00-\\x1f\\x7f]*$', description })

const profileFields = {
  company: line(200, 'The name on invoices.'),
  address: Type.String({ maxLength: 500, pattern: NO_NUL, description: 'The postal address, in lines.' }),
  taxNumber: line(50, 'Such as a VAT number.'),
}

export const billingProfileSchema = Type.Object(profileFields)

/** What stands on an organization's invoices, and when it is told that credits run out. */
export type BillingProfile = Static<typeof billingProfileSchema>

export const billingProfileChangeSchema = Type.Partial(billingProfileSchema, {
  additionalProperties: false,
  minProperties: 1,
})

export const billingReportSchema = Type.Object({
  months: Type.Array(
    Type.Object({
      month: Type.String({ description: 'Such as 2026-11, in UTC.' }),
      currency,
      orders: Type.Integer(),
      revenue: amount,
      refunded: amount,
    }),
  ),
  products: Type.Array(
    Type.Object({
      productId: Type.String(),
      productName: Type.String(),
      currency,
      orders: Type.Integer(),
      revenue: amount,
      refunded: amount,
    }),
  ),
  datasets: Type.Array(
    Type.Object({
      table: Type.String(),
      credits: Type.Integer({ description: 'Credits that downloads took, less refunds.' }),
      publisherCredits: Type.Integer({
        description: 'The publisher’s share of them, rounded down; 0 for datasets of the operator.',
      }),
    }),
  ),
})

export type BillingReport = Static<typeof billingReportSchema>
