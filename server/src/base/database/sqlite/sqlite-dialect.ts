import type { SQLInputValue } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { DatabaseError } from '../database-error.ts'
import { Mutex } from '../mutex.ts'
import { SupervisedSqlite } from './supervised-sqlite.ts'

/**
 * Kysely on `node:sqlite`, with two connections, each in its own thread. One writes and runs transactions,
 * one at a time; the other runs single `select` statements, so that a read never waits for a write that waits
 * for a lock. In WAL mode a reader sees every transaction that was committed before its statement began.
 */
export function sqliteDialect(
  path: string,
  onThreadEnd: (error: Error) => void = () => {},
): Dialect & { pending(): number } {
  let driver: SqliteDriver | undefined
  return {
    pending: () => driver?.pending ?? 0,
    createAdapter: () => new TwoConnectionsAdapter(),
    createDriver: () => {
      driver = new SqliteDriver(path, onThreadEnd)
      return driver
    },
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** Kysely's own adapter hands out one connection at a time; our driver serializes writes by itself. */
class TwoConnectionsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Max time a write waits for its turn; each write before it may wait ten seconds for another process. */
const TURN_TIMEOUT_MS = 15_000

interface Threads {
  writer: SupervisedSqlite
  reader: SupervisedSqlite
  writes: Mutex
}

class SqliteDriver implements Driver {
  readonly #path: string
  readonly #onThreadEnd: (error: Error) => void
  #threads: Threads | null = null

  constructor(path: string, onThreadEnd: (error: Error) => void) {
    this.#path = path
    this.#onThreadEnd = onThreadEnd
  }

  get pending(): number {
    return this.#threads ? this.#threads.writer.pending + this.#threads.reader.pending : 0
  }

  async init(): Promise<void> {
    const path = this.#path
    const writer = new SupervisedSqlite({ path, readOnly: false }, this.#onThreadEnd)
    // Both threads start at the same time, but the writer creates the file.
    const reader = new SupervisedSqlite({ path, readOnly: true }, this.#onThreadEnd, writer.opened())
    await writer.opened()
    this.#threads = { writer, reader, writes: new Mutex(TURN_TIMEOUT_MS) }
    await reader.opened()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return new SqliteConnection(this.#threads!)
  }

  // IMMEDIATE takes the write lock at once: a transaction that has read first could not wait for it later.
  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await connection.write(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    await connection.write(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#threads?.reader.close()
    await this.#threads?.writer.close()
  }
}

/** One use of the database: waits for the writer's turn at its first write, and keeps it until released. */
class SqliteConnection implements DatabaseConnection {
  readonly #threads: Threads
  #turn: { end: () => void; generation: number } | null = null

  constructor(threads: Threads) {
    this.#threads = threads
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#turn || query.query.kind !== 'SelectQueryNode') return this.write(query)
    return toResult(await this.#threads.reader.execute(toCommand(query)))
  }

  async write<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { writer, writes } = this.#threads
    this.#turn ??= { end: await writes.take(), generation: writer.generation }
    // On a new connection the statement would be auto-committed, outside of the transaction that was lost.
    if (this.#turn.generation !== writer.generation)
      throw new DatabaseError('database-unavailable', 'The thread of SQLite ended during the transaction.')
    return toResult(await writer.execute(toCommand(query)))
  }

  /** Never throws: the error that caused the rollback is the one to report. */
  async rollback(): Promise<void> {
    const { writer } = this.#threads
    if (this.#turn?.generation !== writer.generation) return
    await writer.execute({ rollback: true }).catch(() => writer.restart())
  }

  release(): void {
    this.#turn?.end()
    this.#turn = null
  }

  // biome-ignore lint/correctness/useYield: results of the control database are small; nothing streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The control database does not stream.')
  }
}

function toCommand({ sql, parameters }: CompiledQuery) {
  return { sql, parameters: parameters as SQLInputValue[] }
}

function toResult<R>({
  rows,
  changes,
}: {
  rows?: Record<string, unknown>[]
  changes?: number
}): QueryResult<R> {
  return { rows: (rows ?? []) as R[], numAffectedRows: BigInt(changes ?? 0) }
}
