import type { Socket } from 'node:net'
import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { MINUTE, SECOND } from '../../../base/clock.ts'
import { DatabaseError, fromPostgres } from '../../../base/database/database-error.ts'
import type { Tx } from '../../../base/database/open.ts'
import { KEEPALIVE } from '../../../base/database/postgres-pool.ts'
import { CopyError } from '../copy-error.ts'
import type { Row, RowReader, RowWriter } from './row-database.ts'
import { quoted, requireReadableVersion } from './sqlite-rows-store.ts'
import { NOT_COPIED, schemaStatements, type TableShape } from './table-shapes-store.ts'

const FETCH_ROWS = 1000
const BIGINT = 20
/**
 * Max time to wait for a batch of rows, or for another statement. Longer than the service waits: a backup at night
 * should not fail because the disk was slow for a moment.
 */
const PATIENCE = MINUTE
/** Max time to wait for the server to close a connection in an orderly way. */
const END_PATIENCE = 5 * SECOND

interface RowsClient {
  query(statement: string | pg.QueryConfig | pg.QueryArrayConfig, values?: unknown[]): Promise<pg.QueryResult>
  end(): Promise<void>
}

/** Reads in one REPEATABLE READ transaction: a consistent state of all tables, without blocking writers. */
export async function openPostgresReader(url: string, patience = PATIENCE): Promise<RowReader> {
  const client = await connect(url, patience)
  try {
    await client.query('begin isolation level repeatable read read only')
    const schemaVersion = await readSchemaVersion(client)
    if (schemaVersion === null) throw new CopyError('The PostgreSQL database holds no control database.')
    return {
      kind: 'postgres',
      schemaVersion: requireReadableVersion(schemaVersion),
      rows: (shape) => readRows(client, shape),
      close: () => client.end(),
    }
  } catch (error) {
    await client.end()
    throw error
  }
}

/** Opening an empty database migrates it and takes a lease. */
const WRITTEN_BY_OPENING = new Set(['migrations', 'change_number', 'changes', 'heartbeat', 'nodes'])

/**
 * Creates the tables in the connection's schema, inside the transaction. Throws if a table of ours has rows.
 */
export async function openPostgresWriter(
  url: string,
  schemaVersion: number,
  shapes: readonly TableShape[],
  { moveAsideTo = null }: { moveAsideTo?: string | null } = {},
): Promise<RowWriter & { tx: Tx }> {
  const client = await connect(url)
  try {
    await client.query('begin')
    if (moveAsideTo !== null) await moveAside(client, shapes, moveAsideTo)
    const existingTables = await findExistingTables(client, shapes)
    // Locked first, so that no rows appear between the check and the removal.
    if (existingTables.length > 0) await client.query(`lock table ${quoted(existingTables)}`)
    const used = await usedTables(client, existingTables)
    if (used.length > 0) {
      throw new CopyError(
        `The PostgreSQL database is not empty: it has rows in ${used.slice(0, 5).join(', ')}${used.length > 5 ? ', …' : ''}. Name an empty database.`,
      )
    }
    if (existingTables.length > 0) await client.query(`drop table ${quoted(existingTables)}`)
    for (const statement of schemaStatements('postgres', schemaVersion)) await client.query(statement)
    // Migrations insert initial rows, which the copy contains too. Delete them, child tables first.
    for (const { name } of shapes.toReversed()) await client.query(`delete from "${name}"`)
  } catch (error) {
    await client.end()
    throw error
  }
  return {
    tx: transactionOf(client),
    async insert({ name, columns, identity }, rows) {
      const records = rows.map((row) =>
        Object.fromEntries(columns.map((column, index) => [column, row[index]])),
      )
      const overriding = identity === null ? '' : ' overriding system value'
      await client
        .query(
          `insert into "${name}" (${quoted(columns)})${overriding} select ${quoted(columns)} from json_populate_recordset(null::"${name}", $1)`,
          [JSON.stringify(records)],
        )
        .catch((error: Error) => {
          if (error instanceof DatabaseError) throw error
          throw new CopyError(`PostgreSQL refused rows of ${name}: ${error.message}.`, { cause: error })
        })
    },
    rows: (shape) => readRows(client, shape),
    async complete(tables) {
      for (const { name, identity } of tables) {
        if (identity === null) continue
        await client.query(
          `select setval(pg_get_serial_sequence($1, $2), max("${identity}")) from "${name}" having max("${identity}") is not null`,
          [`"${name}"`, identity],
        )
      }
    },
    async commit() {
      await client.query('commit')
    },
    close: () => client.end(),
  }
}

/** The open transaction of the client, for other statements than rows. */
function transactionOf(client: RowsClient): Tx {
  const connection = {
    query: (text: string, values: readonly unknown[] = []) => client.query(text, values as unknown[]),
    release: () => {},
  } as unknown as PostgresPoolClient
  const pool = { options: {}, connect: async () => connection, end: async () => {} }
  return new Kysely({ dialect: new PostgresDialect({ pool }) }) as Tx
}

/** Whether the database has none of our tables, or only what a start on it that was refused has left. */
export function isPostgresEmpty(url: string, shapes: readonly TableShape[]): Promise<boolean> {
  return withPostgres(url, async (client) => {
    return (await usedTables(client, await findExistingTables(client, shapes))).length === 0
  })
}

export function postgresClock(url: string): Promise<Date> {
  return withPostgres(url, async (client) => {
    const { rows } = await client.query('select clock_timestamp() as now')
    return rows[0].now as Date
  })
}

/** The ids of nodes that hold a valid lease: the servers running on this database. */
export function runningNodes(url: string): Promise<string[]> {
  return withPostgres(url, async (client) => {
    const { rows: tables } = await client.query(`select to_regclass('nodes') as name`)
    if (tables[0].name === null) return []
    const { rows } = await client.query(
      `select id from nodes where lease_until > to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
    )
    return rows.map((row: { id: string }) => row.id)
  })
}

export async function withPostgres<T>(url: string, work: (client: RowsClient) => Promise<T>): Promise<T> {
  const client = await connect(url)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

async function connect(url: string, patience = PATIENCE): Promise<RowsClient> {
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === BIGINT ? Number : pg.types.getTypeParser(oid, format),
  }
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10 * SECOND,
    query_timeout: patience,
    ...KEEPALIVE,
    types: types as pg.CustomTypesConfig,
  })
  // A broken connection makes its query fail. Without a listener, the error event would crash the process.
  client.on('error', () => {})
  const rethrow = (error: unknown) => {
    throw fromPostgres(error)
  }
  await client.connect().catch(rethrow)
  const connected: RowsClient = {
    query: (statement, values) => client.query(statement as pg.QueryConfig, values).catch(rethrow),
    end: () => disconnect(client),
  }
  try {
    // The server cancels a statement before the client stops waiting for it. Between two batches the transaction is
    // idle for as long as the rows take to be written.
    await connected.query(
      `set statement_timeout = ${Math.round(patience * 0.9)}; set idle_in_transaction_session_timeout = 0`,
    )
  } catch (error) {
    await connected.end()
    throw error
  }
  return connected
}

/** Over a dead link, the server's response to the end of the connection never comes. */
async function disconnect(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const timer = setTimeout(() => stream.destroy(), END_PATIENCE)
  await client.end().finally(() => clearTimeout(timer))
}

async function readSchemaVersion(client: RowsClient): Promise<number | null> {
  const { rows } = await client.query(`select to_regclass('migrations') as name`)
  if (rows[0].name === null) return null
  const { rows: versions } = await client.query('select max(number) as number from migrations')
  return versions[0].number as number | null
}

async function findExistingTables(client: RowsClient, shapes: readonly TableShape[]): Promise<string[]> {
  const { rows } = await client.query(
    'select name from unnest($1::text[]) as name where to_regclass(quote_ident(name)) is not null',
    [[...shapes.map(({ name }) => name), ...NOT_COPIED]],
  )
  return rows.map((row: { name: string }) => row.name)
}

/** Tables with rows that more than opening an empty database has written. */
async function usedTables(client: RowsClient, existingTables: string[]): Promise<string[]> {
  const used: string[] = []
  for (const name of existingTables.filter((table) => !WRITTEN_BY_OPENING.has(table))) {
    const { rows } = await client.query(`select exists (select from "${name}") as "hasRows"`)
    if (rows[0].hasRows) used.push(name)
  }
  return used
}

/** Indexes and sequences move together with their tables. Nothing is deleted. */
async function moveAside(client: RowsClient, shapes: readonly TableShape[], schema: string): Promise<void> {
  const existingTables = await findExistingTables(client, shapes)
  await client.query(`create schema "${schema}"`)
  for (const name of existingTables) await client.query(`alter table "${name}" set schema "${schema}"`)
}

async function* readRows(client: RowsClient, { name, columns }: TableShape): AsyncGenerator<Row[]> {
  let hasFailed = false
  await client.query(`declare copied_rows no scroll cursor for select ${quoted(columns)} from "${name}"`)
  try {
    for (;;) {
      const { rows } = await client
        .query({ text: `fetch ${FETCH_ROWS} from copied_rows`, rowMode: 'array' })
        .catch((error: unknown) => {
          hasFailed = true
          throw error
        })
      if (rows.length === 0) return
      yield rows as unknown as Row[]
    }
  } finally {
    // After a failure the transaction is aborted, and over a dead link this would wait once more.
    if (!hasFailed) await client.query('close copied_rows').catch(() => {})
  }
}
