import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * SQLite in a thread of its own: a commit waits for the disk and a locked database waits for its lock here,
 * never on the event loop of the server.
 */
export interface SqliteRequest {
  id: number
  sql: string
  parameters: SQLInputValue[]
}

export interface SqliteReply {
  id: number
  rows?: Record<string, unknown>[]
  changes?: number
  error?: { message: string; code: string | undefined; errcode: number | undefined }
}

const port = parentPort!
const database = new DatabaseSync((workerData as { path: string }).path, { timeout: 10_000 })
// FULL: a committed credit survives a power cut, not only the end of the process.
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
// SQLite's own knows the letters of ASCII alone: people search for "Zürich" as they like.
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

port.on('message', (request: SqliteRequest | 'close') => {
  if (request === 'close') {
    database.close()
    port.close()
    return
  }
  const reply: SqliteReply = { id: request.id }
  try {
    const statement = prepare(request.sql)
    if (statement.columns().length > 0) {
      reply.rows = statement.all(...request.parameters) as Record<string, unknown>[]
      reply.changes = reply.rows.length
    } else {
      reply.changes = Number(statement.run(...request.parameters).changes)
    }
  } catch (error) {
    const { message, code, errcode } = error as Error & { code?: string; errcode?: number }
    reply.error = { message, code, errcode }
  }
  port.postMessage(reply)
})
