import { once } from 'node:events'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * SQLite in a separate thread: waiting for the disk at a commit, or for a database lock, happens here and
 * never on the server's event loop.
 */
export interface SqliteRequest {
  id: number
  sql: string
  parameters: SQLInputValue[]
}

/** Rolls back if a transaction is open. Some failed statements make SQLite roll back by itself. */
export interface SqliteRollback {
  id: number
  rollback: true
}

export interface SqliteReply {
  id: number
  rows?: Record<string, unknown>[]
  changes?: number
  error?: { message: string; code: string | undefined; errcode: number | undefined }
}

/** The thread's first message: the database is open. */
export type SqliteOpened = 'opened'

export interface SqliteThreadData {
  path: string
  readOnly: boolean
  /** Whether the thread waits for a message before it opens the file. */
  waits?: boolean
}

/** Max time a statement waits for a lock that another process holds. */
const LOCK_TIMEOUT_MS = 10_000

const port = parentPort!
const { path, readOnly, waits } = workerData as SqliteThreadData
if (waits) await once(port, 'message')
const database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS })
// FULL: a committed credit survives a power failure, not only a crash of the process.
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
// Not opened read-only: such a connection cannot create the shared memory file (-shm) that a reader needs.
if (readOnly) database.exec('PRAGMA query_only = ON')
// SQLite's own lower() changes ASCII letters only, and users search for "Zürich".
database.function('lower', { deterministic: true }, (text) =>
  typeof text === 'string' ? text.toLowerCase() : text,
)

const statements = new Map<string, StatementSync>()

function prepare(sql: string): StatementSync {
  let statement = statements.get(sql)
  if (!statement) {
    if (statements.size > 500) statements.clear()
    statement = database.prepare(sql)
    statements.set(sql, statement)
  }
  return statement
}

function run(request: SqliteRequest | SqliteRollback, reply: SqliteReply): void {
  if ('rollback' in request) {
    if (database.isTransaction) database.exec('rollback')
    return
  }
  const statement = prepare(request.sql)
  if (statement.columns().length > 0) {
    reply.rows = statement.all(...request.parameters) as Record<string, unknown>[]
    reply.changes = reply.rows.length
  } else {
    reply.changes = Number(statement.run(...request.parameters).changes)
  }
}

port.on('message', (request: SqliteRequest | SqliteRollback | 'close') => {
  if (request === 'close') {
    database.close()
    port.close()
    return
  }
  const reply: SqliteReply = { id: request.id }
  try {
    run(request, reply)
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
    reply.error = { message, code, errcode }
  }
  port.postMessage(reply)
})
port.postMessage('opened' satisfies SqliteOpened)
