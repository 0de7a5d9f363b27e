import type { Selectable } from 'kysely'
import type { ControlDatabase, Db, Tx } from '../../../base/database/open.ts'
import type { Tables } from '../../../base/database/schema.ts'

export type SubscriptionRow = Omit<
  Selectable<Tables['subscriptions']>,
  'checked_at' | 'to_cancel' | 'to_reprice'
>

export async function insertSubscription(tx: Tx, row: SubscriptionRow): Promise<void> {
  await tx.insertInto('subscriptions').values(row).execute()
}

export async function updateSubscription(
  tx: Tx,
  id: string,
  values: Partial<Selectable<Tables['subscriptions']>>,
): Promise<void> {
  await tx.updateTable('subscriptions').set(values).where('id', '=', id).execute()
}

export function lockSubscription(
  database: ControlDatabase,
  tx: Tx,
  id: string,
): Promise<(SubscriptionRow & { to_reprice: number }) | undefined> {
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

/** Plans that a provider renews; those come first that it was not asked about for the longest time. */
export function readPlansToCheck(
  db: Db,
  provider: SubscriptionRow['provider'],
  limit: number,
): Promise<SubscriptionRow[]> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where('provider', '=', provider)
    .where('reference', 'is not', null)
    .where('state', '<>', 'ended')
    .orderBy('checked_at')
    .orderBy('period_end')
    .limit(limit)
    .execute()
}

export async function setPlanChecked(db: Db, id: string, at: string): Promise<void> {
  await db.updateTable('subscriptions').set({ checked_at: at }).where('id', '=', id).execute()
}

/** Plans that have ended or were changed here, which their provider may not know yet. */
export function readPlansToTell(db: Db, limit: number): Promise<(SubscriptionRow & { to_cancel: number })[]> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where((row) => row.or([row('to_cancel', '=', 1), row('to_reprice', '=', 1)]))
    .orderBy('checked_at')
    .limit(limit)
    .execute()
}

/** Unless the plan has changed meanwhile. */
export async function setPlanTold(
  db: Db,
  { id, state, product_id, revision, next_product_id, next_revision, cancels_at_end }: SubscriptionRow,
): Promise<void> {
  await db
    .updateTable('subscriptions')
    .set({ to_cancel: 0, to_reprice: 0 })
    .where('id', '=', id)
    .where('state', '=', state)
    .where('product_id', '=', product_id)
    .where('revision', '=', revision)
    .where('next_product_id', 'is not distinct from', next_product_id)
    .where('next_revision', 'is not distinct from', next_revision)
    .where('cancels_at_end', '=', cancels_at_end)
    .execute()
}

/** What the provider knows of the plan may differ from what is stored here, until it is told again. */
export async function setPlanToTell(db: Db, id: string): Promise<void> {
  await db.updateTable('subscriptions').set({ to_reprice: 1 }).where('id', '=', id).execute()
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
