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
import type { SqliteSession, SqliteSource } from './sqlite-source.ts'

/** Kysely on `node:sqlite`, in threads of this thread's own or in those of the first serving thread. */
export function sqliteDialect(source: SqliteSource): Dialect {
  return {
    createAdapter: () => new TwoConnectionsAdapter(),
    createDriver: () => new SqliteDriver(source),
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

class SqliteDriver implements Driver {
  readonly #source: SqliteSource

  constructor(source: SqliteSource) {
    this.#source = source
  }

  init(): Promise<void> {
    return this.#source.open()
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    return new SqliteConnection(this.#source.session())
  }

  // IMMEDIATE takes the write lock at once: a transaction that has read first could not wait for it later.
  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await connection.write(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    await connection.write(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    await connection.session.rollback()
  }

  async releaseConnection(connection: SqliteConnection): Promise<void> {
    connection.session.release()
  }

  destroy(): Promise<void> {
    return this.#source.close()
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly session: SqliteSession

  constructor(session: SqliteSession) {
    this.session = session
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return toResult(await this.session.run(toCommand(query), query.query.kind === 'SelectQueryNode'))
  }

  async write<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return toResult(await this.session.run(toCommand(query), false))
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
