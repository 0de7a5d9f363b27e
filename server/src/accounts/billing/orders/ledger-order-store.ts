import type { Db, Tx } from '../../../base/database/open.ts'

/** How many credits of an order lapsed at the end of its period. */
export async function readLapsedCredits(db: Db | Tx, orderId: string): Promise<number> {
  const { sum } = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.sum<number | string | null>('amount').as('sum'))
    .where('order_id', '=', orderId)
    .where('kind', '=', 'lapse')
    .executeTakeFirstOrThrow()
  return -Number(sum ?? 0)
}

/** Credits that downloads took since an order was booked, less those that were refunded. */
export async function readSpentSince(db: Db | Tx, organizationId: string, orderId: string): Promise<number> {
  const { sum } = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.sum<number | string | null>('amount').as('sum'))
    .where('organization_id', '=', organizationId)
    .where('kind', 'in', ['download', 'refund'])
    .where('id', '>', (row) =>
      row
        .selectFrom('ledger')
        .select(({ fn }) => fn.min('id').as('id'))
        .where('order_id', '=', orderId)
        .where('kind', '=', 'purchase'),
    )
    .executeTakeFirstOrThrow()
  return Math.max(0, -Number(sum ?? 0))
}
