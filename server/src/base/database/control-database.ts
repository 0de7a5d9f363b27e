import type { Kysely, RawBuilder, SelectQueryBuilder, Transaction } from 'kysely'
import type { DatabaseError } from './database-error.ts'
import type { ServerCheck } from './postgres-pool.ts'
import type { Tables } from './schema.ts'
import type { OwnSqlite } from './sqlite/sqlite-source.ts'

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
