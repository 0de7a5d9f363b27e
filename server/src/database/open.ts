import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, PostgresDialect, type SelectQueryBuilder, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { migrate } from './migrate.ts'
import type { Tables } from './schema.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

export type Db = Kysely<Tables>
export type Tx = Transaction<Tables>

/** The control database and the small things in which the dialects differ. */
export interface ControlDatabase {
  db: Db
  kind: 'sqlite' | 'postgres'
  /** SQLite's file, for the connection that watches it; null on PostgreSQL. */
  file: string | null
  /** PostgreSQL's address, for the connection that listens; null on SQLite. */
  url: string | null
  /**
   * Locks the rows a transaction read until it ends. SQLite's write transactions exclude each other as a
   * whole, and need nothing.
   */
  forUpdate<T, O>(
    query: SelectQueryBuilder<Tables, T & keyof Tables, O>,
  ): SelectQueryBuilder<Tables, T & keyof Tables, O>
  /** The same for what has no row to lock: whoever else asks for the name waits until the transaction ends. */
  lockName(tx: Tx, name: string): Promise<void>
  close(): Promise<void>
}

export async function openDatabase(options: {
  databaseUrl: string | null
  dataDir: string
}): Promise<ControlDatabase> {
  const database = options.databaseUrl ? openPostgres(options.databaseUrl) : openSqlite(options.dataDir)
  try {
    await migrate(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

function openSqlite(dataDir: string): ControlDatabase {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, 'wayleave.db')
  const db = new Kysely<Tables>({ dialect: sqliteDialect(file) })
  return {
    db,
    kind: 'sqlite',
    file,
    url: null,
    forUpdate: (query) => query,
    lockName: async () => {},
    close: () => db.destroy(),
  }
}

/** A database that hangs must not hang every request with it. */
const PATIENCE = { connectionTimeoutMillis: 10_000, statement_timeout: 60_000 }

function openPostgres(url: string): ControlDatabase {
  // Counts and numbers of ours stay far below 2^53: as JavaScript numbers on both databases.
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === 20 ? Number : pg.types.getTypeParser(oid, format),
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: 10,
    ...PATIENCE,
    types: types as pg.CustomTypesConfig,
  })
  // A connection that breaks, idle or in use, is replaced at the next use, and its query fails by itself;
  // unheard, the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    db,
    kind: 'postgres',
    file: null,
    url,
    forUpdate: (query) => query.forUpdate(),
    lockName: async (tx, name) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    },
    close: () => db.destroy(),
  }
}

/** Both databases say in their own way that a unique index refused a row. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return code === '23505' || errcode === 2067 || errcode === 1555
}
