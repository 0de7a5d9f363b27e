import type { SQLInputValue } from 'node:sqlite'
import { DatabaseError } from '../database-error.ts'
import { Mutex } from '../mutex.ts'
import { SupervisedSqlite } from './supervised-sqlite.ts'

/** Max time a write waits for its turn; each write before it may wait ten seconds for another process. */
const TURN_TIMEOUT_MS = 15_000

export interface SqliteCommand {
  sql: string
  parameters: SQLInputValue[]
}

export interface SqliteOutcome {
  rows?: Record<string, unknown>[]
  changes?: number
}

/** One use of the database: waits for the writer's turn at its first write, and keeps it until released. */
export interface SqliteSession {
  run(command: SqliteCommand, isRead: boolean): Promise<SqliteOutcome>
  /** Never throws: the error that caused the rollback is the one to report. */
  rollback(): Promise<void>
  release(): void
}

/** Where sessions come from. */
export interface SqliteSource {
  open(): Promise<void>
  session(): SqliteSession
  /** Statements that wait for their result. */
  readonly pending: number
  close(): Promise<void>
}

interface Threads {
  writer: SupervisedSqlite
  reader: SupervisedSqlite
  writes: Mutex
}

/**
 * Two connections, each in its own thread. One writes and runs transactions, one at a time; the other runs single
 * `select` statements, so that a read never waits for a write that waits for a lock. In WAL mode a reader sees every
 * transaction that was committed before its statement began.
 */
export class OwnSqlite implements SqliteSource {
  readonly #path: string
  readonly #onThreadEnd: (error: Error) => void
  #threads: Threads | null = null

  constructor(path: string, onThreadEnd: (error: Error) => void = () => {}) {
    this.#path = path
    this.#onThreadEnd = onThreadEnd
  }

  get pending(): number {
    return this.#threads ? this.#threads.writer.pending + this.#threads.reader.pending : 0
  }

  async open(): Promise<void> {
    const path = this.#path
    const writer = new SupervisedSqlite({ path, readOnly: false }, this.#onThreadEnd)
    // Both threads start at the same time, but the writer creates the file.
    const reader = new SupervisedSqlite({ path, readOnly: true }, this.#onThreadEnd, writer.opened())
    await writer.opened()
    this.#threads = { writer, reader, writes: new Mutex(TURN_TIMEOUT_MS) }
    await reader.opened()
  }

  session(): OwnSession {
    return new OwnSession(this.#threads!)
  }

  async close(): Promise<void> {
    await this.#threads?.reader.close()
    await this.#threads?.writer.close()
  }
}

export class OwnSession implements SqliteSession {
  readonly #threads: Threads
  #turn: { end: () => void; generation: number } | null = null
  #isAbandoned = false

  constructor(threads: Threads) {
    this.#threads = threads
  }

  async run(command: SqliteCommand, isRead: boolean): Promise<SqliteOutcome> {
    const { writer, reader, writes } = this.#threads
    if (isRead && !this.#turn) return reader.execute(command)
    this.#turn ??= { end: await writes.take(), generation: writer.generation }
    if (this.#isAbandoned) {
      this.release()
      throw new DatabaseError('database-unavailable', 'The thread that asked has ended.')
    }
    // On a new connection the statement would be auto-committed, outside of the transaction that was lost.
    if (this.#turn.generation !== writer.generation)
      throw new DatabaseError('database-unavailable', 'The thread of SQLite ended during the transaction.')
    return writer.execute(command)
  }

  async rollback(): Promise<void> {
    const { writer } = this.#threads
    if (this.#turn?.generation !== writer.generation) return
    await writer.execute({ rollback: true }).catch(() => writer.restart())
  }

  release(): void {
    this.#turn?.end()
    this.#turn = null
  }

  /** The thread that used it has ended: what is not committed is rolled back, and what still waits does not run. */
  async abandon(): Promise<void> {
    this.#isAbandoned = true
    await this.rollback()
    this.release()
  }
}
