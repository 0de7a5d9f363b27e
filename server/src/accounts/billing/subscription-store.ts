import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type SubscriptionRow = Tables['subscriptions']

export async function insertSubscription(tx: Tx, row: SubscriptionRow): Promise<void> {
  await tx.insertInto('subscriptions').values(row).execute()
}

export async function updateSubscription(
  tx: Tx,
  id: string,
  values: Partial<SubscriptionRow>,
): Promise<void> {
  await tx.updateTable('subscriptions').set(values).where('id', '=', id).execute()
}

export function lockSubscription(
  database: ControlDatabase,
  tx: Tx,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return database
    .forUpdate(tx.selectFrom('subscriptions').selectAll().where('id', '=', id))
    .executeTakeFirst()
}

export function findSubscription(db: Db | Tx, id: string): Promise<SubscriptionRow | undefined> {
  return db.selectFrom('subscriptions').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The plan that an organization has now. */
export function findCurrentSubscription(
  db: Db | Tx,
  organizationId: string,
): Promise<SubscriptionRow | undefined> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('state', '<>', 'ended')
    .executeTakeFirst()
}

export function findSubscriptionByReference(
  db: Db | Tx,
  provider: SubscriptionRow['provider'],
  reference: string,
): Promise<SubscriptionRow | undefined> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where('provider', '=', provider)
    .where('reference', '=', reference)
    .orderBy('created_at', 'desc')
    .executeTakeFirst()
}

/** Plans that a provider renews and whose period has ended. */
export function readPlansOf(
  db: Db,
  provider: SubscriptionRow['provider'],
  now: string,
  limit: number,
): Promise<SubscriptionRow[]> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where('provider', '=', provider)
    .where('reference', 'is not', null)
    .where('state', '<>', 'ended')
    .where('period_end', '<=', now)
    .orderBy('period_end')
    .limit(limit)
    .execute()
}

/** Plans whose period or whose grace has ended. */
export function readDueSubscriptions(db: Db, now: string, limit: number): Promise<SubscriptionRow[]> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where((row) =>
      row.or([
        row.and([row('state', '=', 'active'), row('period_end', '<=', now)]),
        row.and([row('state', '=', 'past-due'), row('grace_until', '<=', now)]),
      ]),
    )
    .orderBy('period_end')
    .limit(limit)
    .execute()
}
