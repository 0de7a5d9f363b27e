import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childEnvironment, lowerPriority } from '@wayleave/geodata/compile'
import type {
  PositionedTexts,
  QueryProcessOptions,
  QueryReply,
  QueryRequest,
  QueryValue,
} from './query-messages.ts'

/** Below the server's priority: requests that need no query are served first. */
const NICENESS = 10
const ENTRY = fileURLToPath(new URL('./query-process.ts', import.meta.url))
/** How long an interrupted query may take to end before its process is killed, in ms. */
const GRACE_MS = 500

/** A query was ended because its process had more memory than it may have. */
export class QueryMemoryError extends Error {
  override name = 'QueryMemoryError'
}

/** The result of a query whose rows are wanted. */
export type QueryRows = (string | null)[][]

/**
 * A process that runs queries, one at a time. An aborted query is interrupted, and its process is killed if that
 * has no effect; a query that needs too much memory is ended with its process at once. A process that has ended
 * is not used again.
 */
export class QueryRunner {
  readonly #child: ChildProcess
  readonly #ended: Promise<void>
  #receive: ((reply: QueryReply | Error) => void) | null = null
  /** The number of the last query. */
  #id = 0
  #hasEnded = false
  #isWorn = false

  constructor(options: QueryProcessOptions) {
    this.#child = fork(ENTRY, [JSON.stringify(options)], {
      execArgv: [],
      env: childEnvironment(),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    })
    // At once: loading its modules takes as long as many pages.
    if (this.#child.pid !== undefined) lowerPriority(NICENESS, this.#child.pid)
    // A server that has nothing else to do may exit.
    this.#child.unref()
    this.#child.channel?.unref()
    this.#child.on('message', (reply: QueryReply) => this.#onReply(reply))
    this.#ended = new Promise((resolve) => {
      const end = (error: Error) => {
        this.#hasEnded = true
        this.#receive?.(error)
        resolve()
      }
      this.#child.once('error', end)
      this.#child.once('exit', (code, signal) => end(endError(signal ?? `exit code ${code}`)))
    })
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Whether the process had much memory at the end of its last query. */
  get isWorn(): boolean {
    return this.#isWorn
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async positions(sql: string, values: QueryValue[], signal: AbortSignal): Promise<Uint32Array> {
    const reply = await this.#run(sql, values, 'positions', signal)
    if (reply.kind === 'positions') return reply.positions
    throw new Error(`A query for positions returned ${reply.kind}.`)
  }

  async textsAt(sql: string, values: QueryValue[], signal: AbortSignal): Promise<PositionedTexts> {
    const reply = await this.#run(sql, values, 'texts', signal)
    if (reply.kind === 'texts') return reply
    throw new Error(`A query for texts returned ${reply.kind}.`)
  }

  async rows(sql: string, values: QueryValue[], signal: AbortSignal): Promise<QueryRows> {
    const reply = await this.#run(sql, values, 'rows', signal)
    if (reply.kind === 'rows') return reply.rows
    throw new Error(`A query for rows returned ${reply.kind}.`)
  }

  /** Kills the process; a running query fails. */
  async close(): Promise<void> {
    this.#kill()
    await this.#ended
  }

  async #run(
    sql: string,
    values: QueryValue[],
    wants: (QueryRequest & { kind: 'query' })['wants'],
    signal: AbortSignal,
  ): Promise<QueryReply> {
    signal.throwIfAborted()
    const id = ++this.#id
    let grace: NodeJS.Timeout | undefined
    const interrupt = () => {
      this.#send({ kind: 'interrupt', id })
      grace = setTimeout(() => this.#kill(), GRACE_MS)
    }
    signal.addEventListener('abort', interrupt, { once: true })
    // While a query runs, the server must not exit.
    this.#child.channel?.ref()
    try {
      const reply = await new Promise<QueryReply | Error>((resolve) => {
        this.#receive = resolve
        if (this.#hasEnded) resolve(endError('it was not running'))
        else this.#send({ kind: 'query', id, sql, values, wants })
      })
      if (reply instanceof Error) throw reply
      if (reply.kind === 'failed') throw new Error(reply.message)
      if (reply.kind === 'exceeded') {
        this.#kill()
        await this.#ended
        throw new QueryMemoryError(`A query needed ${Math.round(reply.bytes / 1e6)} MB.`)
      }
      return reply
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      clearTimeout(grace)
      signal.removeEventListener('abort', interrupt)
      this.#receive = null
      if (!this.#hasEnded) this.#child.channel?.unref()
    }
  }

  #onReply(reply: QueryReply): void {
    // The process may have noticed its memory when the query had already ended.
    if (reply.id !== this.#id) return
    this.#isWorn = reply.isWorn
    this.#receive?.(reply)
  }

  #send(request: QueryRequest): void {
    this.#child.send(request, (error) => {
      if (error) this.#receive?.(error)
    })
  }

  #kill(): void {
    this.#hasEnded = true
    this.#child.kill('SIGKILL')
  }
}

function endError(how: string): Error {
  // Linux kills the process with the most memory when there is none left; it is told to prefer these.
  if (how === 'SIGKILL') return new QueryMemoryError('The process of a query was killed.')
  return new Error(`The process of a query ended: ${how}.`)
}
