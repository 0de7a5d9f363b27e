import type { OrderState } from '@wayleave/contract/billing-states'
import type { AdminOrder, Order } from '@wayleave/contract/records'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type OrderRow = Tables['orders']

export interface OrderFilter {
  id?: string
  organizationId?: string
  organizationIds?: readonly string[]
  createdBy?: string
  state?: OrderState | undefined
  after?: string | undefined
  limit: number
}

export async function insertOrder(tx: Tx, row: OrderRow): Promise<void> {
  await tx.insertInto('orders').values(row).execute()
}

export async function updateOrder(tx: Tx, id: string, values: Partial<OrderRow>): Promise<void> {
  await tx.updateTable('orders').set(values).where('id', '=', id).execute()
}

export function findOrder(db: Db | Tx, id: string): Promise<OrderRow | undefined> {
  return db.selectFrom('orders').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Locked until the transaction ends: of two events at once, the second sees the first. */
export function lockOrder(database: ControlDatabase, tx: Tx, id: string): Promise<OrderRow | undefined> {
  return database.forUpdate(tx.selectFrom('orders').selectAll().where('id', '=', id)).executeTakeFirst()
}

/** By the provider's id of what is to be paid, or of the payment. */
export function findOrderByReference(
  db: Db | Tx,
  provider: OrderRow['provider'],
  column: 'reference' | 'payment_reference',
  reference: string,
): Promise<OrderRow | undefined> {
  return db
    .selectFrom('orders')
    .selectAll()
    .where('provider', '=', provider)
    .where(column, '=', reference)
    .executeTakeFirst()
}

/** Newest first. */
export async function listOrders(db: Db | Tx, filter: OrderFilter): Promise<AdminOrder[]> {
  const { id, organizationId, organizationIds, createdBy, state, after, limit } = filter
  if (organizationIds?.length === 0) return []
  let query = db
    .selectFrom('orders')
    .innerJoin('organizations', 'organizations.id', 'orders.organization_id')
    .innerJoin('products', 'products.id', 'orders.product_id')
    .innerJoin('product_revisions', (join) =>
      join
        .onRef('product_revisions.product_id', '=', 'orders.product_id')
        .onRef('product_revisions.revision', '=', 'orders.revision'),
    )
    .leftJoin('invoices', 'invoices.order_id', 'orders.id')
    .selectAll('orders')
    .select([
      'organizations.name as organization_name',
      'products.kind',
      'product_revisions.name as product_name',
      'invoices.id as invoice_id',
    ])
    .orderBy('orders.created_at', 'desc')
    .orderBy('orders.id', 'desc')
    .limit(limit)
  if (id !== undefined) query = query.where('orders.id', '=', id)
  if (organizationId !== undefined) query = query.where('orders.organization_id', '=', organizationId)
  if (organizationIds) query = query.where('orders.organization_id', 'in', [...organizationIds])
  if (createdBy !== undefined) query = query.where('orders.created_by', '=', createdBy)
  if (state !== undefined) query = query.where('orders.state', '=', state)
  if (after !== undefined) {
    const last = db.selectFrom('orders').where('id', '=', after)
    query = query.where(({ eb, or, and }) =>
      or([
        eb('orders.created_at', '<', last.select('created_at')),
        and([eb('orders.created_at', '=', last.select('created_at')), eb('orders.id', '<', after)]),
      ]),
    )
  }
  const rows = await query.execute()
  return rows.map((row) => ({
    ...orderRecord(row),
    productName: row.product_name,
    kind: row.kind,
    invoiceId: row.invoice_id,
    organizationName: row.organization_name,
  }))
}

function orderRecord(row: OrderRow): Omit<Order, 'productName' | 'kind' | 'invoiceId'> {
  return {
    id: row.id,
    organizationId: row.organization_id,
    state: row.state,
    reason: row.reason,
    provider: row.provider,
    productId: row.product_id,
    revision: row.revision,
    quantity: row.quantity,
    amount: row.amount,
    currency: row.currency,
    credits: row.credits,
    refundedAmount: row.refunded_amount,
    withdrawnCredits: row.withdrawn_credits,
    url: row.state === 'open' ? row.url : null,
    subscriptionId: row.subscription_id,
    periodStart: row.period_start,
    periodEnd: row.period_end,
    createdAt: row.created_at,
    paidAt: row.paid_at,
  }
}

/** Orders that stayed open, the oldest first. */
export function readOpenOrders(
  db: Db,
  filter: { provider: OrderRow['provider']; before: string; limit: number; after?: string },
): Promise<OrderRow[]> {
  let query = db
    .selectFrom('orders')
    .selectAll()
    .where('state', '=', 'open')
    .where('provider', '=', filter.provider)
    .where('created_at', '<', filter.before)
    .orderBy('created_at')
    .limit(filter.limit)
  if (filter.after !== undefined) query = query.where('created_at', '>', filter.after)
  return query.execute()
}

/** Open orders by invoice that were made before a time and reminded of so often. */
export function readUnpaidOrders(
  db: Db,
  { before, reminders, limit }: { before: string; reminders: number; limit: number },
): Promise<OrderRow[]> {
  return db
    .selectFrom('orders')
    .selectAll()
    .where('state', '=', 'open')
    .where('provider', '=', 'invoice')
    .where('reminders', '=', reminders)
    .where('created_at', '<', before)
    .orderBy('created_at')
    .limit(limit)
    .execute()
}

/** Whether this call has counted it. */
export async function countReminder(db: Db, id: string, reminders: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('orders')
    .set({ reminders: reminders + 1 })
    .where('id', '=', id)
    .where('reminders', '=', reminders)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Whether the event is new. Two transactions with the same event wait for each other. */
export async function insertPaymentEvent(tx: Tx, row: Tables['payment_events']): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('payment_events')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function hasPaymentEvent(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('payment_events').select('id').where('id', '=', id).executeTakeFirst()
  return row !== undefined
}
