import type { SQLInputValue } from 'node:sqlite'
import { DatabaseError } from '../database-error.ts'
import { Mutex } from '../mutex.ts'
import { SupervisedSqlite } from './supervised-sqlite.ts'

/** Max time a write waits for its turn; each write before it may wait ten seconds for another process. */
const TURN_TIMEOUT_MS = 15_000
/** How long a read waits for the writer's turn before a thread for reads is started. */
const READ_PATIENCE_MS = 100

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
  turns: Mutex
  reader(): SupervisedSqlite | null
  startReader(): Promise<SupervisedSqlite>
}

/**
 * Up to two connections, each in its own thread. One writes and runs transactions, one at a time; the other runs single
 * `select` statements, so that a read never waits long for a write that waits for a lock. In WAL mode a reader sees every
 * transaction that was committed before its statement began. The thread for reads is started when a read has waited:
 * commands and a start do without it, and a thread takes as much processor time as a process.
 */
export class OwnSqlite implements SqliteSource {
  readonly #path: string
  readonly #onThreadEnd: (error: Error) => void
  #threads: Threads | null = null
  #reader: SupervisedSqlite | null = null
  #startingReader: Promise<SupervisedSqlite> | null = null

  constructor(path: string, onThreadEnd: (error: Error) => void = () => {}) {
    this.#path = path
    this.#onThreadEnd = onThreadEnd
  }

  get pending(): number {
    return (this.#threads?.writer.pending ?? 0) + (this.#reader?.pending ?? 0)
  }

  async open(): Promise<void> {
    const writer = new SupervisedSqlite({ path: this.#path, readOnly: false }, this.#onThreadEnd)
    await writer.opened()
    this.#threads = {
      writer,
      turns: new Mutex(TURN_TIMEOUT_MS),
      reader: () => this.#reader,
      startReader: () => this.#startReader(),
    }
  }

  session(): OwnSession {
    return new OwnSession(this.#threads!)
  }

  async close(): Promise<void> {
    await this.#startingReader?.catch(() => {})
    await this.#reader?.close()
    await this.#threads?.writer.close()
  }

  /** Reads that wait share one start. After a failed one, the next read that waits tries again. */
  #startReader(): Promise<SupervisedSqlite> {
    this.#startingReader ??= this.#openReader().finally(() => {
      this.#startingReader = null
    })
    return this.#startingReader
  }

  async #openReader(): Promise<SupervisedSqlite> {
    if (this.#reader !== null) return this.#reader
    const reader = new SupervisedSqlite({ path: this.#path, readOnly: true }, this.#onThreadEnd)
    await reader.opened()
    this.#reader = reader
    return reader
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
    const { writer, turns } = this.#threads
    if (isRead && !this.#turn) return this.#read(command)
    this.#turn ??= { end: await turns.take(), generation: writer.generation }
    if (this.#isAbandoned) {
      this.release()
      throw new DatabaseError('database-unavailable', 'The thread that asked has ended.')
    }
    // On a new connection the statement would be auto-committed, outside of the transaction that was lost.
    if (this.#turn.generation !== writer.generation)
      throw new DatabaseError('database-unavailable', 'The thread of SQLite ended during the transaction.')
    return writer.execute(command)
  }

  /** In the thread for reads if it is started, otherwise in the writer's next turn. */
  async #read(command: SqliteCommand): Promise<SqliteOutcome> {
    const { writer, turns, reader, startReader } = this.#threads
    const started = reader()
    if (started !== null) return started.execute(command)
    const endTurn = await turns.takeWithin(READ_PATIENCE_MS)
    if (endTurn === null) return (await startReader()).execute(command)
    return writer.execute(command).finally(endTurn)
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
