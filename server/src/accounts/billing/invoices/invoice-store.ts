import { sql } from 'kysely'
import type { Db, Tx } from '../../../base/database/open.ts'
import type { Tables } from '../../../base/database/schema.ts'

export type InvoiceRow = Tables['invoices']

/** The next number. Its row stays locked until the transaction ends, so a number that is not used is given again. */
export async function nextInvoiceNumber(tx: Tx, prefix: string): Promise<string> {
  const { last_number } = await tx
    .insertInto('invoice_numbers')
    .values({ prefix, last_number: 1 })
    .onConflict((row) =>
      row.column('prefix').doUpdateSet({ last_number: sql<number>`invoice_numbers.last_number + 1` }),
    )
    .returning('last_number')
    .executeTakeFirstOrThrow()
  return `${prefix}${String(last_number).padStart(6, '0')}`
}

export async function insertInvoice(tx: Tx, row: InvoiceRow): Promise<void> {
  await tx.insertInto('invoices').values(row).execute()
}

export function findInvoice(db: Db, id: string): Promise<InvoiceRow | undefined> {
  return db.selectFrom('invoices').selectAll().where('id', '=', id).executeTakeFirst()
}

export function findInvoiceOfOrder(db: Db | Tx, orderId: string): Promise<InvoiceRow | undefined> {
  return db.selectFrom('invoices').selectAll().where('order_id', '=', orderId).executeTakeFirst()
}

export async function insertCreditNote(tx: Tx, row: Tables['credit_notes']): Promise<void> {
  await tx.insertInto('credit_notes').values(row).execute()
}

export function findCreditNote(db: Db, id: string): Promise<Tables['credit_notes'] | undefined> {
  return db.selectFrom('credit_notes').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. */
export function readCreditNotes(db: Db, organizationId: string): Promise<Tables['credit_notes'][]> {
  return db
    .selectFrom('credit_notes')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('issued_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1000)
    .execute()
}

/** Newest first. */
export function readInvoices(db: Db, organizationId: string) {
  return db
    .selectFrom('invoices')
    .innerJoin('orders', 'orders.id', 'invoices.order_id')
    .select([
      'invoices.id',
      'invoices.order_id',
      'invoices.issued_at',
      'invoices.due_at',
      'invoices.content',
      'orders.paid_at',
      'orders.state',
    ])
    .where('invoices.organization_id', '=', organizationId)
    .orderBy('invoices.issued_at', 'desc')
    .orderBy('invoices.id', 'desc')
    .limit(1000)
    .execute()
}
