import type { BillingProfile, InvoiceRecord } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { type Acting, recordEvent, type UserOrigin } from '../../base/events/events.ts'
import { notFound } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { invoicePdf } from './invoice-pdf.ts'
import { findInvoice } from './invoice-store.ts'
import { type InvoiceContent, listInvoices } from './invoices.ts'
import { findOrder } from './order-store.ts'
import { readProfile, writeProfile } from './profile-store.ts'

/** What organizations tell about themselves for billing, and the invoices that it stands on. */
export class Profiles {
  readonly #database: ControlDatabase
  readonly #clock: Clock
  readonly #font: string | null

  constructor(database: ControlDatabase, clock: Clock, font: string | null) {
    this.#database = database
    this.#clock = clock
    this.#font = font
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
    const invoice = id === undefined ? undefined : await findInvoice(db, id)
    if (invoice?.organization_id !== organizationId) throw notFound('such invoice')
    const { id: number, issued_at, due_at, order_id } = invoice
    const order = await findOrder(db, order_id)
    const content = JSON.parse(invoice.content) as InvoiceContent
    const printed = {
      id: number,
      issued_at,
      due_at,
      content,
      orderId: order_id,
      paidAt: order?.paid_at ?? null,
    }
    return invoicePdf(printed, this.#font)
  }
}
