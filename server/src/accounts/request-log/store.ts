import type { LoggedKeyRequest } from '@wayleave/contract/records'
import type { Insertable } from 'kysely'
import { type ControlDatabase, type Db, deleteInSteps } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type NewRequestRow = Insertable<Tables['request_log']>

/** Rows of one statement. */
const STEP = 400

/** The keys of the console, which have no page of their own, are left out. */
export async function insertRequests(db: Db, rows: readonly NewRequestRow[]): Promise<void> {
  const ids = [...new Set(rows.map(({ key_id }) => key_id))]
  const listed = new Set<string>()
  for (let from = 0; from < ids.length; from += STEP) {
    const keys = await db
      .selectFrom('api_keys')
      .select('id')
      .where('kind', '=', 'key')
      .where('id', 'in', ids.slice(from, from + STEP))
      .execute()
    for (const { id } of keys) listed.add(id)
  }
  const kept = rows.filter(({ key_id }) => listed.has(key_id))
  for (let from = 0; from < kept.length; from += STEP) {
    await db
      .insertInto('request_log')
      .values(kept.slice(from, from + STEP))
      .execute()
  }
}

export interface RequestFilter {
  operation?: string | undefined
  table?: string | undefined
  /** A range of statuses, both included. */
  status?: readonly [from: number, to: number] | undefined
  /** At or after this time. */
  since?: string | undefined
  /** Before this time. */
  until?: string | undefined
  before?: number | undefined
  limit: number
}

/** The requests that match, newest first. */
export async function readRequests(
  db: Db,
  keyId: string,
  filter: RequestFilter,
): Promise<LoggedKeyRequest[]> {
  const { operation, table, status, since, until, before, limit } = filter
  let query = db
    .selectFrom('request_log')
    .select(['id', 'at', 'operation', 'table_name', 'status', 'milliseconds', 'bytes', 'credits', 'weight'])
    .where('key_id', '=', keyId)
    .orderBy('id', 'desc')
    .limit(limit)
  if (operation !== undefined) query = query.where('operation', '=', operation)
  if (table !== undefined) query = query.where('table_name', '=', table)
  if (status !== undefined) query = query.where('status', '>=', status[0]).where('status', '<=', status[1])
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  if (before !== undefined) query = query.where('id', '<', before)
  const rows = await query.execute()
  return rows.map(({ table_name, ...row }) => ({ ...row, table: table_name || null }))
}

/** Deletes what is too old, and the oldest of what is too much: ids are given in order. */
export async function trimRequestLog(
  database: ControlDatabase,
  { before, maxRows }: { before: string; maxRows: number },
): Promise<void> {
  await deleteInSteps(database, 'request_log', (row) => row('at', '<', before))
  const newest = await database.db
    .selectFrom('request_log')
    .select('id')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (newest === undefined) return
  await deleteInSteps(database, 'request_log', (row) => row('id', '<=', newest.id - maxRows))
}
