import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ExpressionBuilder,
  type ExpressionWrapper,
  Kysely,
  PostgresDialect,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
  type Transaction,
} from 'kysely'
import { MINUTE, SECOND } from '../clock.ts'
import { makePrivate } from '../locks/private-files.ts'
import type { ThreadLink } from '../threads/thread-link.ts'
import type { DatabaseError } from './database-error.ts'
import { postgresTime, sqliteTime } from './database-time.ts'
import { migrate } from './migrations/migrate.ts'
import { GuardedPool, type Patience, type ServerCheck } from './postgres-pool.ts'
import type { Tables } from './schema.ts'
import { RemoteSqlite } from './sqlite/remote-sqlite.ts'
import { sqliteDialect } from './sqlite/sqlite-dialect.ts'
import { OwnSqlite } from './sqlite/sqlite-source.ts'
import { requireFinishedRestore } from './unfinished-restore-store.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** The control database and the few operations in which the SQL dialects differ. */
export interface ControlDatabase {
  db: Db
  kind: 'sqlite' | 'postgres'
  /** SQLite's file, for the connection that polls it for changes; null on PostgreSQL. */
  file: string | null
  /** What executes the statements of other serving threads; null on PostgreSQL, and in these threads. */
  sqlite: OwnSqlite | null
  /** PostgreSQL's URL, for the LISTEN connection; null on SQLite. */
  url: string | null
  /**
   * Locks the selected rows until the transaction ends (SELECT … FOR UPDATE). A no-op on SQLite, where only
   * one write transaction runs at a time.
   */
  forUpdate<T, O>(
    query: SelectQueryBuilder<Tables, T & keyof Tables, O>,
  ): SelectQueryBuilder<Tables, T & keyof Tables, O>
  /** The same if there is no row to lock: an advisory lock on a name, held until the transaction ends. */
  lockName(tx: Tx, name: string): Promise<void>
  /**
   * The time by the database's own clock, as text in the form of all times. Processes on several machines compare
   * leases by it, whatever their own clocks say.
   */
  time(plusMs?: number): RawBuilder<string>
  /** Circuit breaker: given an error, every use fails with it at once; null resets it. PostgreSQL only. */
  refuse(error: DatabaseError | null): void
  /** Every use waits until `refuse` is called, with an error or null. PostgreSQL only. */
  hold(): void
  /** Sets a check of the server of each new connection. PostgreSQL only. */
  checkServers(isKnown: ServerCheck): void
  /** Statements that wait: on PostgreSQL for a connection, on SQLite for their result. */
  pending(): number
  close(): Promise<void>
}

export interface DatabaseOptions {
  databaseUrl: string | null
  dataDir: string
  /** Statement timeout on PostgreSQL, in seconds. */
  databaseTimeout?: number
  /** How many threads of this process open the database; they share its connections to PostgreSQL. */
  threads?: number | undefined
  /**
   * The first thread of this process, which has migrated the database and executes the statements of all threads on
   * SQLite; undefined in it.
   */
  first?: Pick<ThreadLink, 'ask' | 'tell'> | undefined
  /** Called when a SQLite thread exits; it is then restarted. */
  onThreadEnd?: (error: Error) => void
}

export async function openDatabase(options: DatabaseOptions): Promise<ControlDatabase> {
  if (options.databaseUrl) return openMigratedPostgres(options.databaseUrl, options)
  const database = openSqlite(options)
  if (!options.first) await migrateOrClose(database)
  return database
}

async function migrateOrClose(database: ControlDatabase): Promise<void> {
  try {
    await migrate(database)
  } catch (error) {
    await database.close()
    throw error
  }
}

function openSqlite({ dataDir, onThreadEnd, first }: DatabaseOptions): ControlDatabase {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'wayleave.db')
  makePrivate(file)
  const source = first ? new RemoteSqlite(first) : new OwnSqlite(file, onThreadEnd)
  const db = new Kysely<Tables>({ dialect: sqliteDialect(source) })
  return {
    db,
    kind: 'sqlite',
    file,
    url: null,
    forUpdate: (query) => query,
    lockName: async () => {},
    time: sqliteTime,
    refuse: () => {},
    hold: () => {},
    checkServers: () => {},
    sqlite: source instanceof OwnSqlite ? source : null,
    pending: () => source.pending,
    close: () => db.destroy(),
  }
}

const DEFAULT_TIMEOUT_SECONDS = 10
const CONNECTIONS = 10
/** Of each of several threads: a transaction must not keep everything else waiting. */
const MIN_CONNECTIONS = 3
const CONNECT_TIMEOUT = 5 * SECOND
/** A migration may rewrite a large table, and waits while other nodes migrate. */
const MIGRATION: Patience = { connections: 1, connectTimeout: 10 * SECOND, queryTimeout: 30 * MINUTE }

async function openMigratedPostgres(
  url: string,
  { databaseTimeout = DEFAULT_TIMEOUT_SECONDS, threads = 1, first }: DatabaseOptions,
): Promise<ControlDatabase> {
  if (!first) await migratePostgres(url)
  const connections =
    threads === 1 ? CONNECTIONS : Math.max(MIN_CONNECTIONS, Math.ceil(CONNECTIONS / threads))
  return openPostgres(url, {
    connections,
    connectTimeout: CONNECT_TIMEOUT,
    queryTimeout: databaseTimeout * SECOND,
  })
}

async function migratePostgres(url: string): Promise<void> {
  const migrating = openPostgres(url, MIGRATION)
  await requireFinishedRestore(migrating.db).catch(async (error: unknown) => {
    await migrating.close()
    throw error
  })
  await migrateOrClose(migrating)
  await migrating.close()
}

export function openPostgres(url: string, patience: Patience): ControlDatabase {
  const pool = new GuardedPool(url, patience)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    kind: 'postgres',
    sqlite: null,
    file: null,
    url,
    forUpdate: (query) => query.forUpdate(),
    lockName: async (tx, name) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    },
    time: postgresTime,
    refuse: (error) => pool.refuse(error),
    hold: () => pool.hold(),
    checkServers: (isKnown) => pool.checkServers(isKnown),
    pending: () => pool.waiting,
    close: () => db.destroy(),
  }
}

/** Max rows deleted by one statement of `deleteInSteps`. */
const STEP = 1000
const PAUSE_BETWEEN_STEPS_MS = 10

/**
 * Deletes rows a thousand at a time, each step in its own transaction, so that other writers are not blocked
 * for long and a deletion that turns out to be a mistake can be stopped midway.
 */
export async function deleteInSteps<Table extends keyof Tables & string>(
  { db, kind }: Pick<ControlDatabase, 'db' | 'kind'>,
  table: Table,
  where: (row: ExpressionBuilder<Tables, Table>) => ExpressionWrapper<Tables, Table, SqlBool>,
): Promise<number> {
  // Both databases have an internal row id; a subquery on it works for any primary key.
  const rowId = sql.ref(kind === 'sqlite' ? 'rowid' : 'ctid')
  let deleted = 0
  for (;;) {
    const doomed = (db as Kysely<Tables>)
      .selectFrom(table as keyof Tables)
      .select(rowId.as('row_id'))
      .where(where as never)
      .limit(STEP)
    const { numDeletedRows } = await db
      .deleteFrom(table as keyof Tables)
      .where(rowId, 'in', doomed)
      .executeTakeFirst()
    deleted += Number(numDeletedRows)
    if (numDeletedRows < STEP) return deleted
    await sleep(PAUSE_BETWEEN_STEPS_MS)
  }
}

/** Whether a unique index rejected a row. Each database reports this with its own error code. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return code === '23505' || errcode === 2067 || errcode === 1555
}
