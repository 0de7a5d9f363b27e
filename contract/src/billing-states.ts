/** Words of billing that programs need without the schemas of its records. */
export const PRODUCT_KINDS = ['pack', 'plan'] as const
export const PLAN_PERIODS = ['month', 'year'] as const
export const ORDER_STATES = ['open', 'paid', 'cancelled', 'refunded', 'held'] as const
export const PAYMENT_PROVIDERS = ['stripe', 'invoice', 'demo'] as const

export type OrderState = (typeof ORDER_STATES)[number]
export type PaymentProviderName = (typeof PAYMENT_PROVIDERS)[number]
export type PlanPeriod = (typeof PLAN_PERIODS)[number]
