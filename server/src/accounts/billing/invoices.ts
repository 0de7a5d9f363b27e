import type { InvoiceRecord, Product } from '@wayleave/contract/records'
import { DAY, plus } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/database/open.ts'
import type { Config } from '../../base/settings/config.ts'
import { findInvoiceOfOrder, insertInvoice, nextInvoiceNumber, readInvoices } from './invoice-store.ts'
import type { OrderRow } from './order-store.ts'
import { findRevision } from './product-store.ts'
import { readProfile } from './profile-store.ts'

export type InvoiceSettings = Pick<
  Config,
  'invoiceIssuer' | 'invoiceBank' | 'invoicePrefix' | 'invoiceDays' | 'invoiceTaxPercent'
>

/** Everything that stands on an invoice. It is stored when the invoice is issued. */
export interface InvoiceContent {
  issuer: string[]
  bank: string[]
  customer: string[]
  line: { name: string; period: { start: string; end: string } | null; quantity: number; price: number }
  currency: string
  net: number
  taxPercent: number
  tax: number
  total: number
}

/** Issues the invoice of an order, in the transaction that opens the order. */
export async function issueInvoice(
  tx: Tx,
  at: Date,
  order: OrderRow,
  organizationName: string,
  settings: InvoiceSettings,
): Promise<string> {
  const existing = await findInvoiceOfOrder(tx, order.id)
  if (existing) return existing.id
  const product = await findRevision(tx, order.product_id, order.revision)
  const { company, address, taxNumber } = await readProfile(tx, order.organization_id)
  const customer = [
    company || organizationName,
    ...linesOf(address, /\r?\n/),
    ...(taxNumber ? [taxNumber] : []),
  ]
  const content = contentOf(order, product, customer, settings)
  // Last, because every other invoice waits until this transaction ends.
  const number = await nextInvoiceNumber(tx, settings.invoicePrefix)
  const id = `${settings.invoicePrefix}${String(number).padStart(6, '0')}`
  await insertInvoice(tx, {
    id,
    organization_id: order.organization_id,
    order_id: order.id,
    issued_at: at.toISOString(),
    due_at: plus(at, settings.invoiceDays * DAY).toISOString(),
    content: JSON.stringify(content),
  })
  return id
}

function contentOf(
  order: OrderRow,
  product: Product,
  customer: string[],
  settings: InvoiceSettings,
): InvoiceContent {
  const { amount: net, quantity, currency, period_start: start, period_end: end } = order
  const tax = taxOf(net, settings.invoiceTaxPercent)
  return {
    issuer: linesOf(settings.invoiceIssuer ?? '', '|'),
    bank: linesOf(settings.invoiceBank ?? '', '|'),
    customer,
    line: {
      name: product.name,
      period: start && end ? { start, end } : null,
      quantity,
      price: product.price,
    },
    currency,
    net,
    taxPercent: settings.invoiceTaxPercent,
    tax,
    total: net + tax,
  }
}

/** Rounded half up to whole minor units, in integers. */
function taxOf(net: number, percent: number): number {
  return Number((BigInt(net) * BigInt(percent) + 50n) / 100n)
}

function linesOf(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

export async function listInvoices(db: Db, organizationId: string): Promise<InvoiceRecord[]> {
  return (await readInvoices(db, organizationId)).map((row) => {
    const { total, currency } = JSON.parse(row.content) as InvoiceContent
    return {
      id: row.id,
      orderId: row.order_id,
      amount: total,
      currency,
      issuedAt: row.issued_at,
      dueAt: row.due_at,
      paidAt: row.paid_at,
      url: `/v1/billing/invoices/${row.id}.pdf`,
    }
  })
}
