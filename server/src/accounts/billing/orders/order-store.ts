import type { OrderState } from '@wayleave/contract/billing-states'
import type { AdminOrder, Order } from '@wayleave/contract/records'
import { type Selectable, sql } from 'kysely'
import type { ControlDatabase, Db, Tx } from '../../../base/database/open.ts'
import type { Tables } from '../../../base/database/schema.ts'

export type OrderRow = Omit<Selectable<Tables['orders']>, 'checked_at'>

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

export async function countOpenOrders(db: Db | Tx, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('orders')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('state', '=', 'open')
    .executeTakeFirstOrThrow()
  return Number(count)
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

/**
 * Orders whose payment the provider is asked about: those that stayed open, and paid ones, which may be refunded or
 * disputed. The ones that were not asked about for the longest time come first, so that none keeps others waiting.
 */
export function readOrdersToCheck(
  db: Db,
  filter: {
    provider: OrderRow['provider']
    state: 'open' | 'paid'
    since: string
    before: string
    limit: number
  },
): Promise<OrderRow[]> {
  const { provider, state, since, before, limit } = filter
  const at = state === 'open' ? 'created_at' : 'paid_at'
  return db
    .selectFrom('orders')
    .selectAll()
    .where('state', 'in', state === 'open' ? ['open'] : ['paid', 'held'])
    .where('provider', '=', provider)
    .where(at, '>', since)
    .where(at, '<', before)
    .orderBy('checked_at')
    .orderBy(at)
    .limit(limit)
    .execute()
}

/** The paid orders of a plan's current period, the oldest first: that of the period, and upgrades. */
export function readPeriodOrders(
  tx: Tx,
  { id, period_end }: { id: string; period_end: string },
): Promise<OrderRow[]> {
  return tx
    .selectFrom('orders')
    .selectAll()
    .where('subscription_id', '=', id)
    .where('period_end', '=', period_end)
    .where('paid_at', 'is not', null)
    .orderBy(sql`case when upgrades_from is null then 0 else 1 end`)
    .orderBy('paid_at')
    .orderBy('created_at')
    .execute()
}

export async function setOrderChecked(db: Db, id: string, at: string): Promise<void> {
  await db.updateTable('orders').set({ checked_at: at }).where('id', '=', id).execute()
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
export async function countReminder(tx: Tx, id: string, reminders: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
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
