import { Worker } from 'node:worker_threads'
import { errorOf } from '../snapshot/thread-failure.ts'
import { type Codes, type ColumnParts, MAX_LISTED_ROWS } from './compiled-column.ts'
import { orderOf, type PackedColumn, unpackColumn } from './unpack-column.ts'
import type { UnpackReply, UnpackRequest, UnpackTask } from './unpack-thread.ts'

/** Smaller columns are unpacked at once, which takes 1 to 2 ms; asking the thread would take longer. */
const MAX_INLINE_ROWS = 1 << 15
const MAX_INLINE_BYTES = 1 << 19
const IDLE_MS = 10 * 60_000

type Waiting = PromiseWithResolvers<UnpackReply>

/**
 * Unpacks columns in a thread: for a million rows it takes longer than other requests should wait, and makes garbage
 * whose collection would stop them too. The memory of a column moves from the thread to the caller.
 */
export class UnpackInThread {
  readonly #waiting = new Map<number, Waiting>()
  readonly #maxInlineRows: number
  readonly #idleMs: number
  readonly #maxListed: number
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | undefined
  #last = 0

  /** The thread ends when nothing was asked of it for `idleMs`. Columns of more than `maxListed` rows get no lists. */
  constructor({
    maxInlineRows = MAX_INLINE_ROWS,
    idleMs = IDLE_MS,
    maxListed = MAX_LISTED_ROWS,
  }: { maxInlineRows?: number; idleMs?: number; maxListed?: number | undefined } = {}) {
    this.#maxInlineRows = maxInlineRows
    this.#idleMs = idleMs
    this.#maxListed = maxListed
  }

  get isRunning(): boolean {
    return this.#worker !== null
  }

  /** Starts the thread if a column of so many rows will need it: its start takes 30 to 50 ms. */
  expect(rows: number): void {
    if (rows <= this.#maxInlineRows || this.#worker) return
    try {
      this.#worker = this.#start()
      this.#rest(this.#worker)
    } catch {
      // The system has no thread left now; `unpack` tries again when one is needed.
    }
  }

  /** The sections of the column are moved to the thread. Throws a DamagedSnapshotError. */
  async unpack(packed: PackedColumn): Promise<ColumnParts> {
    const { rows, stored, dictionary, codes } = packed
    if (rows <= this.#maxInlineRows && stored.dictionary.size <= MAX_INLINE_BYTES)
      return unpackColumn(packed, this.#maxListed)
    const moved = [dictionary.buffer, ...codes.map(({ buffer }) => buffer)]
    const reply = await this.#ask({ packed, maxListed: this.#maxListed }, moved)
    return (reply as { parts: ColumnParts }).parts
  }

  /** The rows by their codes, which are in shared memory. */
  async order(codes: Codes, starts: Uint32Array): Promise<Uint32Array> {
    if (codes.length <= this.#maxInlineRows) return orderOf(codes, starts)
    const reply = await this.#ask({ codes, starts }, [])
    return (reply as { order: Uint32Array }).order
  }

  #ask(task: UnpackTask, moved: ArrayBuffer[]): Promise<UnpackReply> {
    const waiting: Waiting = Promise.withResolvers()
    const request: UnpackRequest = { number: ++this.#last, ...task }
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#waiting.set(request.number, waiting)
    this.#worker.postMessage(request, moved)
    return waiting.promise
  }

  #start(): Worker {
    const worker = new Worker(new URL('./unpack-thread.ts', import.meta.url))
    worker.on('message', (reply: UnpackReply) => {
      const waiting = this.#waiting.get(reply.number)
      this.#waiting.delete(reply.number)
      if ('failure' in reply) waiting?.reject(errorOf(reply.failure))
      else waiting?.resolve(reply)
      if (this.#waiting.size === 0) this.#rest(worker)
    })
    const end = (error: Error) => {
      if (this.#worker !== worker) return
      this.#worker = null
      clearTimeout(this.#idle)
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.once('error', end)
    worker.once('exit', () => end(new Error('the thread that unpacks columns ended')))
    return worker
  }

  /** An idle thread does not keep the process running. */
  #rest(worker: Worker): void {
    worker.unref()
    this.#idle = setTimeout(() => {
      this.#worker = null
      void worker.terminate()
    }, this.#idleMs).unref()
  }
}
