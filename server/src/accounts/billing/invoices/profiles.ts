import type { BillingProfile, InvoiceRecord } from '@wayleave/contract/records'
import type { Clock } from '../../../base/clock.ts'
import type { ControlDatabase, Db } from '../../../base/database/open.ts'
import { type Acting, recordEvent, type UserOrigin } from '../../../base/events/events.ts'
import { notFound } from '../../../base/problem.ts'
import { requireMember } from '../../access/membership.ts'
import { findOrder } from '../orders/order-store.ts'
import type { PaymentProvider } from '../providers/payment-provider.ts'
import { invoicePdf, type PrintedInvoice } from './invoice-pdf.ts'
import { findCreditNote, findInvoice } from './invoice-store.ts'
import { type InvoiceContent, listInvoices } from './invoices.ts'
import { findCustomer, readProfile, writeProfile } from './profile-store.ts'

/** What organizations tell about themselves for billing, and the invoices that it stands on. */
export class Profiles {
  readonly #database: ControlDatabase
  readonly #clock: Clock
  readonly #font: string | null

  readonly #providers: readonly PaymentProvider[]

  constructor(
    database: ControlDatabase,
    clock: Clock,
    font: string | null,
    providers: readonly PaymentProvider[],
  ) {
    this.#database = database
    this.#clock = clock
    this.#font = font
    this.#providers = providers
  }

  /** Needs BILLING_MANAGE. The address of the provider's own page; 404 if the organization has paid nothing there. */
  async portal(caller: Acting, organizationId: string, returnUrl: string): Promise<string> {
    const { db } = this.#database
    await requireMember(db, caller, organizationId, 'BILLING_MANAGE')
    for (const provider of this.#providers) {
      const customer = await findCustomer(db, organizationId, provider.name)
      const url = customer === null ? null : await provider.portal(customer, returnUrl)
      if (url !== null) return url
    }
    throw notFound('customer portal')
  }

  /** Needs BILLING_VIEW. */
  async find(caller: Acting, organizationId: string): Promise<BillingProfile> {
    const { db } = this.#database
    await requireMember(db, caller, organizationId, 'BILLING_VIEW')
    return readProfile(db, organizationId)
  }

  /** Needs BILLING_MANAGE. */
  async change(
    caller: UserOrigin,
    organizationId: string,
    change: Partial<BillingProfile>,
  ): Promise<BillingProfile> {
    return this.#database.db.transaction().execute(async (tx) => {
      await requireMember(tx, caller, organizationId, 'BILLING_MANAGE')
      const profile = { ...(await readProfile(tx, organizationId)), ...change }
      await writeProfile(tx, organizationId, profile)
      await recordEvent(tx, this.#clock(), caller.origin, {
        action: 'billing.changed',
        organizationId,
        subject: `organization:${organizationId}`,
        detail: { changed: Object.keys(change) },
      })
      return profile
    })
  }

  async invoices(caller: Acting, organizationId: string): Promise<InvoiceRecord[]> {
    const { db } = this.#database
    await requireMember(db, caller, organizationId, 'BILLING_VIEW')
    return listInvoices(db, organizationId)
  }

  /** `file` is the invoice number and `.pdf`. */
  async invoicePdf(caller: Acting, organizationId: string, file: string): Promise<Buffer> {
    const { db } = this.#database
    await requireMember(db, caller, organizationId, 'BILLING_VIEW')
    const id = /^([A-Z0-9-]{1,40})\.pdf$/.exec(file)?.[1]
    const invoice = id === undefined ? undefined : await findPrinted(db, id)
    if (invoice?.organizationId !== organizationId) throw notFound('such invoice')
    return invoicePdf(invoice, this.#font)
  }
}

/** An invoice or a credit note. */
async function findPrinted(
  db: Db,
  id: string,
): Promise<(PrintedInvoice & { organizationId: string }) | null> {
  const invoice = await findInvoice(db, id)
  const note = invoice ? undefined : await findCreditNote(db, id)
  const row = invoice ?? note
  if (!row) return null
  const order = await findOrder(db, row.order_id)
  return {
    id,
    organizationId: row.organization_id,
    issued_at: row.issued_at,
    due_at: invoice?.due_at ?? null,
    content: JSON.parse(row.content) as InvoiceContent,
    orderId: row.order_id,
    paidAt: order?.paid_at ?? null,
    isCancelled: order?.state === 'cancelled',
    invoiceId: note?.invoice_id ?? null,
  }
}
