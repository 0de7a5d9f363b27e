import { once } from 'node:events'
import type { SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
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
import type { SqliteReply, SqliteRequest } from './sqlite-thread.ts'

/** Kysely over `node:sqlite`, which runs in a thread: one connection, used by one transaction at a time. */
export function sqliteDialect(path: string): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new SqliteThreadDriver(path),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

class SqliteThreadDriver implements Driver {
  readonly #worker: Worker
  readonly #connection: SqliteConnection
  #free: Promise<void> = Promise.resolve()
  #release: () => void = () => {}

  constructor(path: string) {
    this.#worker = new Worker(new URL('./sqlite-thread.ts', import.meta.url), { workerData: { path } })
    this.#connection = new SqliteConnection(this.#worker)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#free
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#free = promise
    await before
    this.#release = resolve
    return this.#connection
  }

  // IMMEDIATE takes the write lock at once: a transaction that read first could not wait for it later.
  async beginTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  async commitTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(): Promise<void> {
    await this.#connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async releaseConnection(): Promise<void> {
    this.#release()
  }

  async destroy(): Promise<void> {
    this.#worker.ref()
    const exit = once(this.#worker, 'exit')
    this.#worker.postMessage('close')
    await exit
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #worker: Worker
  readonly #waiting = new Map<number, (reply: SqliteReply) => void>()
  #next = 0

  constructor(worker: Worker) {
    this.#worker = worker
    worker.unref()
    worker.on('message', (reply: SqliteReply) => {
      this.#waiting.get(reply.id)?.(reply)
      this.#waiting.delete(reply.id)
      if (this.#waiting.size === 0) worker.unref()
    })
    worker.on('error', (error) => {
      for (const [id, answer] of this.#waiting) {
        answer({ id, error: { message: error.message, code: 'ERR_SQLITE_ERROR', errcode: undefined } })
      }
      this.#waiting.clear()
    })
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const id = this.#next++
    const { promise, resolve } = Promise.withResolvers<SqliteReply>()
    this.#waiting.set(id, resolve)
    this.#worker.ref()
    this.#worker.postMessage({
      id,
      sql,
      parameters: parameters as SQLInputValue[],
    } satisfies SqliteRequest)
    const { rows, changes, error } = await promise
    if (error) throw Object.assign(new Error(error.message), { code: error.code, errcode: error.errcode })
    return { rows: (rows ?? []) as R[], numAffectedRows: BigInt(changes ?? 0) }
  }

  // biome-ignore lint/correctness/useYield: control-plane answers are small; nothing streams.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('The control database does not stream.')
  }
}
