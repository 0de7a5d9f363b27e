import type { SourceRunRecord } from '@wayleave/contract/records'
import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type SourceRow = Tables['sources']
export type SourceRunRow = Tables['source_runs']

export async function readSource(db: Db | Tx, table: string): Promise<SourceRow | undefined> {
  return db.selectFrom('sources').selectAll().where('table_name', '=', table).executeTakeFirst()
}

/** Those of an organization, or of all. */
export async function listSources(db: Db, ownerId: string | null = null): Promise<SourceRow[]> {
  let rows = db.selectFrom('sources').selectAll().orderBy('table_name')
  if (ownerId !== null) rows = rows.where('owner_id', '=', ownerId)
  return rows.execute()
}

export async function readDueSources(db: Db, now: string, limit: number): Promise<SourceRow[]> {
  return db
    .selectFrom('sources')
    .selectAll()
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .limit(limit)
    .execute()
}

/**
 * What is known of the content is forgotten, because another address or another way to read it was set. Returns false if
 * another publisher has just set a source of this name.
 */
export async function putSource(tx: Tx, row: SourceRow): Promise<boolean> {
  const { table_name: _table, created_by: _by, created_at: _at, ...changed } = row
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('sources')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('table_name')
        .doUpdateSet(changed)
        .where('sources.owner_id', row.owner_id === null ? 'is' : '=', row.owner_id),
    )
    .executeTakeFirst()
  return Number(numInsertedOrUpdatedRows) > 0
}

export async function updateSource(
  db: Db | Tx,
  table: string,
  change: Partial<Pick<SourceRow, 'next_run_at' | 'validators' | 'failures'>>,
): Promise<void> {
  await db.updateTable('sources').set(change).where('table_name', '=', table).execute()
}

export async function deleteSource(tx: Tx, table: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('sources').where('table_name', '=', table).executeTakeFirst()
  return numDeletedRows > 0n
}

export async function insertRun(db: Db | Tx, row: SourceRunRow): Promise<void> {
  await db.insertInto('source_runs').values(row).execute()
}

/** The newest first. */
export async function readRuns(db: Db, table: string, limit: number): Promise<SourceRunRecord[]> {
  const rows = await db
    .selectFrom('source_runs')
    .selectAll()
    .where('table_name', '=', table)
    .orderBy('started_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
    isManual: row.is_manual === 1,
    version: row.version,
    rows: row.rows,
    bytes: row.bytes,
    problem: row.problem,
  }))
}

export async function deleteRuns(tx: Tx, table: string): Promise<void> {
  await tx.deleteFrom('source_runs').where('table_name', '=', table).execute()
}

export async function deleteRunsBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'source_runs', (row) => row('ended_at', '<', at))
}
