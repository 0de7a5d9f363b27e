import { type Clock, HOUR, MINUTE, SECOND } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { isLoopback } from '../../base/loopback.ts'
import { type Config, SettingError } from '../../base/settings/config.ts'
import { demoProvider, invoiceProvider } from './local-providers.ts'
import { Orders } from './orders.ts'
import type { PaymentProvider } from './payment-provider.ts'
import { Plans } from './plans.ts'
import { Profiles } from './profiles.ts'
import { StripeEvents } from './stripe-events.ts'
import { StripeProvider } from './stripe-provider.ts'
import { Upgrades } from './upgrades.ts'

export interface Billing {
  providers: readonly PaymentProvider[]
  orders: Orders
  plans: Plans
  upgrades: Upgrades
  profiles: Profiles
  baseUrl: () => string
  /** Null without Stripe. */
  stripeEvents: StripeEvents | null
}

export interface BillingOptions {
  config: Config
  database: ControlDatabase
  changes: Changes
  clock: Clock
  baseUrl: () => string
}

export function openBilling(options: BillingOptions): Billing {
  const { config, database, changes, clock, baseUrl } = options
  const providers = config.payments.map((name) => openProvider(name, config))
  const orders = new Orders({ database, changes, clock, providers, invoices: config, baseUrl })
  const { graceDays } = config
  const plans = new Plans({ database, changes, clock, orders, providers, graceDays })
  const upgrades = new Upgrades({ database, clock, orders })
  const profiles = new Profiles(database, clock, config.invoiceFont, providers)
  const stripe = providers.find((provider) => provider instanceof StripeProvider)
  const stripeEvents = stripe
    ? new StripeEvents({ db: database.db, clock, provider: stripe, orders, plans })
    : null
  return { providers, orders, plans, upgrades, profiles, baseUrl, stripeEvents }
}

function openProvider(name: Config['payments'][number], config: Config): PaymentProvider {
  if (name !== 'stripe') return name === 'demo' ? demoProvider : invoiceProvider
  const { stripeSecretKey, stripeWebhookSecret, stripeApi, stripeTax, stripeTimeout } = config
  return new StripeProvider({
    secretKey: stripeSecretKey ?? '',
    webhookSecret: stripeWebhookSecret ?? '',
    api: stripeApi,
    hasTax: stripeTax,
    timeoutMs: stripeTimeout * SECOND,
  })
}

/** What a serving node does from time to time. Nothing if nothing is sold. */
export function billingRounds({ providers, plans, orders, stripeEvents }: Billing) {
  if (providers.length === 0) return []
  return [
    // First the provider is asked, so that a plan that it has renewed does not become past due.
    ...(stripeEvents
      ? [{ name: 'open payments', every: 10 * MINUTE, work: () => stripeEvents.reconcile() }]
      : []),
    { name: 'plans to renew', every: 5 * MINUTE, work: () => plans.renewDue() },
    { name: 'unpaid invoices', every: HOUR, work: () => orders.remind() },
  ]
}

/** Throws if a server must not start with these settings. */
export function checkPaymentSettings({ payments, host, stripeSecretKey, stripeWebhookSecret }: Config): void {
  if (payments.includes('demo') && !isLoopback(host)) {
    throw new SettingError(
      `WAYLEAVE_PAYMENTS has "demo", which gives credits away, and the service listens on ${host}. It is for loopback only.`,
    )
  }
  if (payments.includes('stripe') && !(stripeSecretKey && stripeWebhookSecret)) {
    throw new SettingError(
      'WAYLEAVE_PAYMENTS has "stripe", which needs WAYLEAVE_STRIPE_SECRET_KEY and WAYLEAVE_STRIPE_WEBHOOK_SECRET.',
    )
  }
}
