import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { SECOND } from '../../clock.ts'
import { DatabaseError, fromSqlite } from '../database-error.ts'
import type { SqliteOpen, SqliteReply, SqliteRequest, SqliteRollback, SqliteState } from './sqlite-thread.ts'

const FIRST_RESTART_DELAY_MS = 50
const MAX_RESTART_DELAY_MS = 5 * SECOND
/**
 * Results from the control database are small. A thread that exceeds this is terminated, instead of the whole
 * process running out of memory.
 */
const MAX_HEAP_MB = 512

/**
 * Threads whose database was closed. A process that opens databases one after another, as tests do, uses them
 * again: starting a thread takes 40 ms of processor time.
 */
const idleThreads = new Set<Worker>()
const MAX_IDLE_THREADS = 4

type Command = Omit<SqliteRequest, 'id'> | Omit<SqliteRollback, 'id'>

/**
 * A thread with one SQLite connection. If it exits, all pending commands fail, and it is restarted. An open
 * transaction is lost with the old connection, so `generation` tells the connections apart.
 */
export class SupervisedSqlite {
  readonly #data: SqliteOpen
  readonly #onEnd: (error: Error) => void
  readonly #waiting = new Map<number, (reply: SqliteReply | DatabaseError) => void>()
  #worker: Worker | null = null
  #opened: Promise<void>
  #generation = 0
  #nextId = 0
  #restartDelay = FIRST_RESTART_DELAY_MS
  #closing = false

  constructor(data: SqliteOpen, onEnd: (error: Error) => void) {
    this.#data = data
    this.#onEnd = onEnd
    this.#opened = this.#start()
    this.#opened.catch(() => {})
  }

  /** Number of connections opened so far. */
  get generation(): number {
    return this.#generation
  }

  /** Statements that have no result yet. */
  get pending(): number {
    return this.#waiting.size
  }

  /** Resolves when the first connection is open, and rejects if it cannot be opened. */
  opened(): Promise<void> {
    return this.#opened
  }

  async execute(command: Command): Promise<SqliteReply> {
    const worker = this.#worker
    if (!worker) throw threadEnded()
    const id = this.#nextId++
    const { promise, resolve } = Promise.withResolvers<SqliteReply | DatabaseError>()
    this.#waiting.set(id, resolve)
    worker.ref()
    worker.postMessage({ ...command, id } satisfies SqliteRequest | SqliteRollback)
    const reply = await promise
    if (reply instanceof DatabaseError) throw reply
    if (reply.error) {
      const { message, code, errcode } = reply.error
      throw fromSqlite(Object.assign(new Error(message), { code, errcode }), this.#data.path)
    }
    return reply
  }

  /** Terminates the thread at once and opens a new connection, if the state of the old one is unknown. */
  async restart(): Promise<void> {
    await this.#worker?.terminate()
  }

  async close(): Promise<void> {
    this.#closing = true
    const worker = this.#worker
    if (!worker) return
    worker.ref()
    const closed = Promise.withResolvers<void>()
    worker.on('message', (message) => {
      if (message === ('closed' satisfies SqliteState)) closed.resolve()
    })
    worker.on('exit', () => closed.resolve())
    worker.postMessage('close')
    await closed.promise
    // If the thread ended instead, it was removed.
    if (this.#worker) await release(worker)
    this.#worker = null
  }

  async #start(): Promise<void> {
    const worker = takeIdleThread() ?? startThread()
    // A process must not exit before the database is open.
    worker.ref()
    let failure: Error | null = null
    worker.on('error', (error: Error) => {
      failure = error
    })
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    worker.on('message', (message: SqliteReply | SqliteState) => {
      if (message === 'opened') resolve()
      else if (message !== 'closed') this.#settle(worker, message)
    })
    worker.on('exit', (code) => {
      const error = failure ?? new Error(`it exited with code ${code}`)
      if (this.#worker === worker) this.#ended(error)
      reject(fromSqlite(error, this.#data.path))
    })
    worker.postMessage(this.#data)
    await promise
    this.#worker = worker
    this.#generation++
    // A command exits when its work is done: an idle thread must not keep the process alive.
    worker.unref()
  }

  #settle(worker: Worker, reply: SqliteReply): void {
    this.#waiting.get(reply.id)?.(reply)
    this.#waiting.delete(reply.id)
    this.#restartDelay = FIRST_RESTART_DELAY_MS
    if (this.#waiting.size === 0) worker.unref()
  }

  #ended(error: Error): void {
    this.#worker = null
    for (const fail of this.#waiting.values()) fail(threadEnded(error))
    this.#waiting.clear()
    if (this.#closing) return
    this.#onEnd(error)
    this.#startAgain()
  }

  async #startAgain(): Promise<void> {
    while (!this.#closing) {
      await sleep(this.#restartDelay, undefined, { ref: false })
      this.#restartDelay = Math.min(this.#restartDelay * 2, MAX_RESTART_DELAY_MS)
      const error = await this.#start().then(
        () => null,
        (cause: Error) => cause,
      )
      if (error === null) return
      this.#onEnd(error)
    }
  }
}

function takeIdleThread(): Worker | undefined {
  const [thread] = idleThreads
  if (thread) idleThreads.delete(thread)
  return thread
}

function startThread(): Worker {
  return new Worker(new URL('./sqlite-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  })
}

/** Keeps a thread whose database is closed, without keeping the process alive. */
async function release(thread: Worker): Promise<void> {
  for (const event of ['message', 'error', 'exit']) thread.removeAllListeners(event)
  thread.unref()
  if (idleThreads.size === MAX_IDLE_THREADS) return void (await thread.terminate())
  idleThreads.add(thread)
  thread.once('exit', () => idleThreads.delete(thread))
}

function threadEnded(cause?: Error): DatabaseError {
  return new DatabaseError('database-unavailable', 'The thread of SQLite ended and is started again.', cause)
}
