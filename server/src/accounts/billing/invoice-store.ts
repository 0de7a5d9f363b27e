import { sql } from 'kysely'
import type { Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type InvoiceRow = Tables['invoices']

/** The next number. Its row stays locked until the transaction ends, so a number that is not used is given again. */
export async function nextInvoiceNumber(tx: Tx, prefix: string): Promise<number> {
  const { last_number } = await tx
    .insertInto('invoice_numbers')
    .values({ prefix, last_number: 1 })
    .onConflict((row) =>
      row.column('prefix').doUpdateSet({ last_number: sql<number>`invoice_numbers.last_number + 1` }),
    )
    .returning('last_number')
    .executeTakeFirstOrThrow()
  return last_number
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
    ])
    .where('invoices.organization_id', '=', organizationId)
    .orderBy('invoices.issued_at', 'desc')
    .orderBy('invoices.id', 'desc')
    .limit(1000)
    .execute()
}
