import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ExpressionBuilder, type ExpressionWrapper, Kysely, type SqlBool, sql } from 'kysely'
import { MINUTE, SECOND } from '../clock.ts'
import { makePrivate } from '../locks/private-files.ts'
import type { ThreadLink } from '../threads/thread-link.ts'
import type { ControlDatabase } from './control-database.ts'
import { sqliteTime } from './database-time.ts'
import { migrate } from './migrations/migrate.ts'
import type { Patience } from './postgres-pool.ts'
import type { Tables } from './schema.ts'
import { RemoteSqlite } from './sqlite/remote-sqlite.ts'
import { sqliteDialect } from './sqlite/sqlite-dialect.ts'
import { OwnSqlite } from './sqlite/sqlite-source.ts'
import { requireFinishedRestore } from './unfinished-restore-store.ts'

export type { ControlDatabase, Db, Tx } from './control-database.ts'

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
/** Of several threads: the first one also runs jobs and housekeeping, the others serve requests only. */
const CONNECTIONS_OF_FIRST = 6
/** A transaction must not keep everything else waiting. */
const CONNECTIONS_OF_OTHERS = 2
const CONNECT_TIMEOUT = 5 * SECOND
/** A migration may rewrite a large table, and waits while other nodes migrate. */
const MIGRATION: Patience = { connections: 1, connectTimeout: 10 * SECOND, queryTimeout: 30 * MINUTE }

async function openMigratedPostgres(
  url: string,
  { databaseTimeout = DEFAULT_TIMEOUT_SECONDS, threads = 1, first }: DatabaseOptions,
): Promise<ControlDatabase> {
  // The client of PostgreSQL is only loaded if it is used.
  const { openPostgres } = await import('./open-postgres.ts')
  if (!first) await migratePostgres(openPostgres(url, MIGRATION))
  return openPostgres(url, {
    connections: connectionsOf(threads, first === undefined),
    connectTimeout: CONNECT_TIMEOUT,
    queryTimeout: databaseTimeout * SECOND,
  })
}

/** Max connections of a thread for requests. */
function connectionsOf(threads: number, isFirst: boolean): number {
  if (threads === 1) return CONNECTIONS
  return isFirst ? CONNECTIONS_OF_FIRST : CONNECTIONS_OF_OTHERS
}

async function migratePostgres(migrating: ControlDatabase): Promise<void> {
  await requireFinishedRestore(migrating.db).catch(async (error: unknown) => {
    await migrating.close()
    throw error
  })
  await migrateOrClose(migrating)
  await migrating.close()
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
