import type { InvoiceRecord, Product } from '@wayleave/contract/records'
import { DAY, plus } from '../../../base/clock.ts'
import type { Db, Tx } from '../../../base/database/open.ts'
import type { Config } from '../../../base/settings/config.ts'
import type { OrderRow } from '../orders/order-store.ts'
import { findRevision } from '../products/product-store.ts'
import {
  findInvoiceOfOrder,
  insertCreditNote,
  insertInvoice,
  nextInvoiceNumber,
  readCreditNotes,
  readInvoices,
} from './invoice-store.ts'
import { readProfile } from './profile-store.ts'

export type InvoiceSettings = Pick<
  Config,
  'invoiceIssuer' | 'invoiceBank' | 'invoicePrefix' | 'creditNotePrefix' | 'invoiceDays' | 'invoiceTaxPercent'
>

const MAX_LISTED = 1000

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
  const id = await nextInvoiceNumber(tx, settings.invoicePrefix)
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

/**
 * Issues a credit note in the transaction that books a refund or cancels the order, if it has an invoice. The taxes of
 * all credit notes of an order add up to the tax of what they are for.
 */
export async function issueCreditNote(
  tx: Tx,
  at: Date,
  order: OrderRow,
  amount: number,
  { creditNotePrefix }: InvoiceSettings,
): Promise<void> {
  const invoice = await findInvoiceOfOrder(tx, order.id)
  if (!invoice || amount <= 0) return
  const invoiced = JSON.parse(invoice.content) as InvoiceContent
  const { taxPercent } = invoiced
  const isCancelled = order.state === 'cancelled'
  const sum = isCancelled ? amount : order.refunded_amount
  const tax = taxOf(sum, taxPercent) - taxOf(sum - amount, taxPercent)
  const name = `${isCancelled ? 'Cancelled' : 'Refund'}: ${invoiced.line.name}`
  const line = { ...invoiced.line, name, quantity: 1, price: amount }
  const content: InvoiceContent = { ...invoiced, line, net: amount, tax, total: amount + tax }
  await insertCreditNote(tx, {
    id: await nextInvoiceNumber(tx, creditNotePrefix),
    organization_id: order.organization_id,
    order_id: order.id,
    invoice_id: invoice.id,
    amount,
    issued_at: at.toISOString(),
    content: JSON.stringify(content),
  })
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
      name: orderedName(order, product),
      period: start && end ? { start, end } : null,
      quantity,
      price: order.upgrades_from === null ? product.price : net,
    },
    currency,
    net,
    taxPercent: settings.invoiceTaxPercent,
    tax,
    total: net + tax,
  }
}

/** What payers read: an upgrade is not the price of the plan. */
export function orderedName({ upgrades_from }: Pick<OrderRow, 'upgrades_from'>, { name }: Product): string {
  return upgrades_from === null ? name : `${name} (upgrade)`
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

/** Invoices and credit notes, newest first. */
export async function listInvoices(db: Db, organizationId: string): Promise<InvoiceRecord[]> {
  const invoices = (await readInvoices(db, organizationId)).map((row) => ({
    ...recordOf(row),
    kind: 'invoice' as const,
    invoiceId: null,
    dueAt: row.state === 'cancelled' ? null : row.due_at,
    paidAt: row.paid_at,
  }))
  const notes = (await readCreditNotes(db, organizationId)).map((row) => ({
    ...recordOf(row),
    kind: 'credit-note' as const,
    invoiceId: row.invoice_id,
    dueAt: null,
    paidAt: null,
  }))
  return [...invoices, ...notes].sort((a, b) => (a.issuedAt < b.issuedAt ? 1 : -1)).slice(0, MAX_LISTED)
}

function recordOf(row: { id: string; order_id: string; issued_at: string; content: string }) {
  const { total, currency } = JSON.parse(row.content) as InvoiceContent
  return {
    id: row.id,
    orderId: row.order_id,
    amount: total,
    currency,
    issuedAt: row.issued_at,
    url: `/v1/billing/invoices/${row.id}.pdf`,
  }
}
