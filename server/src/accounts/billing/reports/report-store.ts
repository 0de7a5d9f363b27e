import { sql } from 'kysely'
import type { Db } from '../../../base/database/open.ts'

/** Orders that were paid in a range of times, by month and currency. */
export async function readRevenueByMonth(db: Db, from: string, to: string) {
  const { rows } = await sql<SumRow & { month: string; currency: string }>`
    select substr(paid_at, 1, 7) as month, currency, count(*) as orders, sum(amount) as revenue,
      sum(refunded_amount) as refunded
    from orders where paid_at >= ${from} and paid_at < ${to}
    group by 1, 2 order by 1, 2`.execute(db)
  return rows.map((row) => ({ month: row.month, currency: row.currency, ...sumsOf(row) }))
}

/** The same by product. The name is that of the newest revision. */
export async function readRevenueByProduct(db: Db, from: string, to: string) {
  const { rows } = await sql<SumRow & { productId: string; productName: string; currency: string }>`
    select orders.product_id as "productId", product_revisions.name as "productName", orders.currency as currency,
      count(*) as orders, sum(orders.amount) as revenue, sum(orders.refunded_amount) as refunded
    from orders
    join products on products.id = orders.product_id
    join product_revisions on product_revisions.product_id = products.id
      and product_revisions.revision = products.revision
    where orders.paid_at >= ${from} and orders.paid_at < ${to}
    group by 1, 2, 3 order by 1, 3`.execute(db)
  return rows.map((row) => ({
    productId: row.productId,
    productName: row.productName,
    currency: row.currency,
    ...sumsOf(row),
  }))
}

/**
 * Credits that downloads took in a range of times, less refunds. `published` are those of a dataset that an organization
 * publishes; an earlier one of the same name may have been another publisher's.
 */
export async function readCreditsByDataset(db: Db, from: string, to: string) {
  const { rows } = await sql<{ table: string; credits: number | string; published: number | string }>`
    select ledger.table_name as "table", -sum(ledger.amount) as credits,
      -sum(case when datasets.owner_id is null then 0 else ledger.amount end) as published
    from ledger
    left join datasets on datasets.table_name = ledger.table_name and datasets.created_at <= ledger.at
    where ledger.at >= ${from} and ledger.at < ${to} and ledger.kind in ('download', 'refund')
      and ledger.table_name is not null
    group by 1 order by 2 desc, 1 limit 1000`.execute(db)
  return rows.map(({ table, credits, published }) => ({
    table,
    credits: Number(credits),
    published: Number(published),
  }))
}

export interface BookingsFilter {
  since: string
  until: string
  before?: number | undefined
  limit: number
}

/** All changes of balances, with the money of each and what an accountant needs of its order; newest first. */
export function readBookings(db: Db, { since, until, before, limit }: BookingsFilter) {
  let query = db
    .selectFrom('ledger')
    .innerJoin('organizations', 'organizations.id', 'ledger.organization_id')
    .leftJoin('orders', 'orders.id', 'ledger.order_id')
    .leftJoin('invoices', 'invoices.order_id', 'ledger.order_id')
    .select([
      'ledger.id',
      'ledger.at',
      'ledger.organization_id as organizationId',
      'organizations.name as organizationName',
      'ledger.kind',
      'ledger.amount as credits',
      'ledger.balance',
      'ledger.table_name as table',
      'ledger.order_id as orderId',
      'orders.state',
      'orders.provider',
      'orders.payment_reference as paymentReference',
      'ledger.money as amount',
      'orders.currency',
      'invoices.id as invoiceId',
    ])
    .where('ledger.at', '>=', since)
    .where('ledger.at', '<', until)
    .orderBy('ledger.id', 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where('ledger.id', '<', before)
  return query.execute()
}

export type BookingRow = Awaited<ReturnType<typeof readBookings>>[number]

interface SumRow {
  orders: number | string
  revenue: number | string
  refunded: number | string
}

/** PostgreSQL sums bigint columns to numeric, which the driver returns as text. */
function sumsOf({ orders, revenue, refunded }: SumRow) {
  return { orders: Number(orders), revenue: Number(revenue), refunded: Number(refunded) }
}
