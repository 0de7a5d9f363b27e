import { sql } from 'kysely'
import {
  type ControlDatabase,
  type Db,
  deleteInSteps,
  isUniqueViolation,
  type Tx,
} from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

/** Calls and credits of one key on one day, by operation, table and format. */
export type UsageRow = Tables['usage']

export async function addUsage(tx: Tx, rows: UsageRow[]): Promise<void> {
  // Always in the same order, so that two nodes that update the same rows cannot deadlock.
  const ordered = [...rows].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  for (let from = 0; from < ordered.length; from += 500) {
    await tx
      .insertInto('usage')
      .values(ordered.slice(from, from + 500))
      .onConflict((row) =>
        row.columns(['key_id', 'date', 'operation', 'table_name', 'format']).doUpdateSet((add) => ({
          calls: add('usage.calls', '+', add.ref('excluded.calls')),
          credits: add('usage.credits', '+', add.ref('excluded.credits')),
        })),
      )
      .execute()
  }
}

/** Adds a batch idempotently: if the response to a commit was lost, the retry finds the batch's id. */
export async function addUsageBatch(
  { db }: ControlDatabase,
  id: string,
  at: string,
  rows: UsageRow[],
): Promise<void> {
  try {
    await db.transaction().execute(async (tx) => {
      await tx.insertInto('usage_batches').values({ id, at }).execute()
      await addUsage(tx, rows)
    })
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
  }
}

export async function deleteUsageBatchesBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'usage_batches', (row) => row('at', '<', at))
}

/**
 * Only moves forward: two nodes may write their times in either order. The key may have been rotated since the
 * secret was used: then it is the previous one, or is not known any more.
 */
export async function setLastUsed(db: Db, secretHash: string, at: string): Promise<void> {
  const columns = [
    ['secret_hash', 'last_used_at'],
    ['previous_secret_hash', 'previous_last_used_at'],
  ] as const
  for (const [hash, lastUsed] of columns) {
    const { numUpdatedRows } = await db
      .updateTable('api_keys')
      .set({ [lastUsed]: at })
      .where(hash, '=', secretHash)
      .where((row) => row.or([row(lastUsed, 'is', null), row(lastUsed, '<', at)]))
      .executeTakeFirst()
    if (numUpdatedRows > 0) return
  }
}

export interface UsageRange {
  startDate: string
  endDate: string
}

export function readKeyUsage(db: Db, keyId: string, range: UsageRange): Promise<UsageRow[]> {
  return selectUsage(db, range).where('key_id', '=', keyId).execute()
}

/** Which of the rows of an organization are read: all of them without a key and a table. */
export interface UsageFilter {
  keyId?: string
  table?: string
}

export function readOrganizationUsage(
  db: Db,
  organizationId: string,
  range: UsageRange,
  { keyId, table }: UsageFilter = {},
): Promise<UsageRow[]> {
  return selectUsage(db, range)
    .where('organization_id', '=', organizationId)
    .$if(keyId !== undefined, (query) => query.where('key_id', '=', keyId!))
    .$if(table !== undefined, (query) => query.where('table_name', '=', table!))
    .execute()
}

/**
 * The usage of the datasets that an organization owns, by all callers, from the day on which each was published first: an
 * earlier dataset of the name may have been another publisher's.
 */
export function readOwnedUsage(
  db: Db,
  ownerId: string,
  { startDate, endDate }: UsageRange,
): Promise<UsageRow[]> {
  return db
    .selectFrom('datasets')
    .innerJoin('usage', 'usage.table_name', 'datasets.table_name')
    .selectAll('usage')
    .where('datasets.owner_id', '=', ownerId)
    .where(sql<boolean>`usage.date >= substr(datasets.created_at, 1, 10)`)
    .where('usage.date', '>=', startDate)
    .where('usage.date', '<=', endDate)
    .orderBy('usage.date')
    .execute()
}

function selectUsage(db: Db, { startDate, endDate }: UsageRange) {
  return db
    .selectFrom('usage')
    .selectAll()
    .where('date', '>=', startDate)
    .where('date', '<=', endDate)
    .orderBy('date')
}

function nameOf(row: UsageRow): string {
  return `${row.key_id} ${row.date} ${row.operation} ${row.table_name} ${row.format}`
}
