import { PAYMENT_PROVIDERS, type PaymentProviderName } from '@wayleave/contract/billing-states'
import { boolean, choice, integer, text, textList, url } from './parsers.ts'
import { setting } from './setting.ts'

/** Who takes payments, and what stands on invoices. */
export const billingSettings = {
  payments: setting(
    'WAYLEAVE_PAYMENTS',
    [] as PaymentProviderName[],
    textList(...PAYMENT_PROVIDERS),
    'Payment providers, separated by commas: "stripe", "invoice" (an order is open until an administrator marks it as paid) and "demo" (pays at once; only on loopback). The first one is the default. Without any, nothing is sold.',
  ),
  stripeSecretKey: setting(
    'WAYLEAVE_STRIPE_SECRET_KEY',
    null as string | null,
    text(/^(sk|rk)_(test|live)_\w+$/, 'a secret key of Stripe'),
    'The secret key of the Stripe account.',
    { secret: true },
  ),
  stripeWebhookSecret: setting(
    'WAYLEAVE_STRIPE_WEBHOOK_SECRET',
    null as string | null,
    text(/^whsec_\S+$/, 'a signing secret of Stripe'),
    'The signing secret of the Stripe webhook, which sends its events to /v1/billing/events/stripe.',
    { secret: true },
  ),
  stripeApi: setting(
    'WAYLEAVE_STRIPE_API',
    null as string | null,
    url('https:', 'http:'),
    'Another address of Stripe’s API, for tests.',
  ),
  stripeTimeout: setting(
    'WAYLEAVE_STRIPE_TIMEOUT',
    10,
    integer(1, 60),
    'Seconds to wait for a response of Stripe; a request that has none is repeated once.',
  ),
  stripeTax: setting(
    'WAYLEAVE_STRIPE_TAX',
    false,
    boolean(),
    'Let Stripe compute taxes and add them to the prices.',
  ),
  invoiceIssuer: setting(
    'WAYLEAVE_INVOICE_ISSUER',
    null as string | null,
    text(),
    'Name, address and tax number of the seller on invoices; "|" separates lines.',
  ),
  invoiceBank: setting(
    'WAYLEAVE_INVOICE_BANK',
    null as string | null,
    text(),
    'The bank details on invoices; "|" separates lines.',
  ),
  invoicePrefix: setting(
    'WAYLEAVE_INVOICE_PREFIX',
    'INV-',
    text(/^[A-Z0-9-]{1,20}$/, 'up to twenty capital letters, digits and hyphens'),
    'What invoice numbers begin with.',
  ),
  creditNotePrefix: setting(
    'WAYLEAVE_CREDIT_NOTE_PREFIX',
    'CN-',
    text(/^[A-Z0-9-]{1,20}$/, 'up to twenty capital letters, digits and hyphens'),
    'What the numbers of credit notes begin with.',
  ),
  invoiceFont: setting(
    'WAYLEAVE_INVOICE_FONT',
    null as string | null,
    text(),
    'A TrueType or OpenType file for invoices. Without it, Helvetica is used, which has the letters of western Europe only.',
  ),
  invoiceDays: setting(
    'WAYLEAVE_INVOICE_DAYS',
    14,
    integer(1, 365),
    'Days in which an invoice is to be paid. A reminder is sent after them, and again after as many.',
  ),
  invoiceTaxPercent: setting(
    'WAYLEAVE_INVOICE_TAX_PERCENT',
    0,
    integer(0, 100),
    'The tax that invoices of the service add to the prices, in percent.',
  ),
  graceDays: setting(
    'WAYLEAVE_GRACE_DAYS',
    7,
    integer(0, 90),
    'Days that a plan goes on after a renewal was not paid.',
  ),
  publisherShare: setting(
    'WAYLEAVE_PUBLISHER_SHARE',
    0,
    integer(0, 100),
    'The share of publishers in the credits that their datasets bring, in percent. It is only reported.',
  ),
  extractPrice: setting(
    'WAYLEAVE_EXTRACT_PRICE',
    'share' as 'share' | 'free' | 'whole',
    choice('share', 'free', 'whole'),
    'What a file of filtered rows costs if its dataset says nothing else: "share" (the price of a download times the share of the rows, rounded up), "free" or "whole" (the price of a download).',
  ),
} as const
