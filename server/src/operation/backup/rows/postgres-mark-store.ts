import { sql } from 'kysely'
import type { Tx } from '../../../base/database/open.ts'
import { UNFINISHED_RESTORE } from '../../../base/database/unfinished-restore-store.ts'
import { CopyError } from '../copy-error.ts'
import { withPostgres } from './postgres-rows-store.ts'

/** Marks in the database that a restore into it has begun: nodes do not start, and serve nothing if they run. */
export interface DatabaseMark {
  id: string
  /** The command that continues the restore. */
  command: string
  at: string
}

/** Takes the place of the mark of an earlier restore, which is returned. */
export function markDatabase(url: string, mark: DatabaseMark): Promise<DatabaseMark | null> {
  return withPostgres(url, async (client) => {
    await client.query('begin')
    await client.query(
      `create table if not exists ${UNFINISHED_RESTORE} (id text not null, command text not null, at text not null)`,
    )
    const { rows } = await client.query(`delete from ${UNFINISHED_RESTORE} returning id, command, at`)
    const { id, command, at } = mark
    await client.query(`insert into ${UNFINISHED_RESTORE} values ($1, $2, $3)`, [id, command, at])
    await client.query('commit')
    return (rows[0] as DatabaseMark | undefined) ?? null
  })
}

export function unmarkDatabase(url: string): Promise<void> {
  return withPostgres(url, async (client) => {
    await client.query(`drop table if exists ${UNFINISHED_RESTORE}`)
  })
}

/** Null if no restore is unfinished. */
export function readDatabaseMark(url: string): Promise<DatabaseMark | null> {
  return withPostgres(url, async (client) => {
    const { rows: tables } = await client.query('select to_regclass($1) as name', [UNFINISHED_RESTORE])
    if (tables[0].name === null) return null
    const { rows } = await client.query(`select id, command, at from ${UNFINISHED_RESTORE}`)
    return (rows[0] as DatabaseMark | undefined) ?? null
  })
}

/** Removes the mark in the transaction that completes the restore. */
export async function removeMark(tx: Tx, id: string): Promise<void> {
  const table = sql.table(UNFINISHED_RESTORE)
  const { rows } = await sql`select 1 from ${table} where id = ${id} for update`.execute(tx)
  if (rows.length === 0)
    throw new CopyError('Another restore into this PostgreSQL database has begun meanwhile.')
  await sql`drop table ${table}`.execute(tx)
}

/** `begun` while the mark of this restore is there, `done` once its rows are committed. */
export async function restoreState(url: string, id: string): Promise<'begun' | 'done' | 'unknown'> {
  if ((await readDatabaseMark(url))?.id === id) return 'begun'
  return withPostgres(url, async (client) => {
    const { rows: tables } = await client.query(`select to_regclass('events') as name`)
    if (tables[0].name === null) return 'unknown'
    const { rows } = await client.query(
      `select 1 from events where action = 'installation.restored' and detail::json ->> 'restoreId' = $1`,
      [id],
    )
    return rows.length > 0 ? 'done' : 'unknown'
  })
}
