import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort } from 'node:worker_threads'
import { isSqliteBusy } from '../database-error.ts'

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

/** Opens a database. A thread has one at a time. */
export interface SqliteOpen {
  path: string
  readOnly: boolean
}

/** The thread's replies to `SqliteOpen` and to `close`. */
export type SqliteState = 'opened' | 'closed'

/** Max time a statement waits for a lock that another process holds. */
const LOCK_TIMEOUT_MS = 10_000
const WAL_RETRY_MS = 10

const port = parentPort!
let database: DatabaseSync
const statements = new Map<string, StatementSync>()

function open({ path, readOnly }: SqliteOpen): void {
  database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS })
  switchToWal()
  // FULL: a committed credit survives a power failure, not only a crash of the process.
  database.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  // Not opened read-only: such a connection cannot create the shared memory file (-shm) that a reader needs.
  if (readOnly) database.exec('PRAGMA query_only = ON')
  // SQLite's own lower() changes ASCII letters only, and users search for "Zürich".
  database.function('lower', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  )
  port.postMessage('opened' satisfies SqliteState)
}

/**
 * If another connection is about to write to a database that is not in WAL mode yet, SQLite refuses the change at
 * once, without waiting as it does for other locks. That is so when several processes open a new database.
 */
function switchToWal(): void {
  const lastAttempt = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() > lastAttempt) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY_MS)
    }
  }
}

function close(): void {
  statements.clear()
  database.close()
  port.postMessage('closed' satisfies SqliteState)
}

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

function execute(request: SqliteRequest | SqliteRollback): void {
  const reply: SqliteReply = { id: request.id }
  try {
    run(request, reply)
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
    reply.error = { message, code, errcode }
  }
  port.postMessage(reply)
}

// A database that cannot be opened or closed ends the thread with its error.
port.on('message', (message: SqliteOpen | SqliteRequest | SqliteRollback | 'close') => {
  if (message === 'close') close()
  else if ('path' in message) open(message)
  else execute(message)
})
