import { Worker } from 'node:worker_threads'
import { inSharedMemory } from '../shared-loads.ts'
import { errorOf } from '../snapshot/thread-failure.ts'
import type { ColumnParts } from './compiled-column.ts'
import { type PackedColumn, unpackColumn } from './unpack-column.ts'
import type { UnpackReply, UnpackRequest } from './unpack-thread.ts'

/** Smaller columns are unpacked at once, which takes 1 to 2 ms; asking the thread would take longer. */
const MAX_INLINE_ROWS = 1 << 15
const MAX_INLINE_BYTES = 1 << 19
const IDLE_MS = 10 * 60_000

type Waiting = PromiseWithResolvers<ColumnParts>

/**
 * Unpacks columns in a thread: for a million rows it takes longer than other requests should wait, and makes garbage
 * whose collection would stop them too. The memory of a column moves from the thread to the caller.
 */
export class UnpackInThread {
  readonly #waiting = new Map<number, Waiting>()
  readonly #maxInlineRows: number
  readonly #idleMs: number
  /** Whether the arrays of a column are in memory that threads can share. */
  readonly #isShared: boolean
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | undefined
  #last = 0

  /** The thread ends when nothing was asked of it for `idleMs`. */
  constructor({ maxInlineRows = MAX_INLINE_ROWS, idleMs = IDLE_MS, isShared = false } = {}) {
    this.#maxInlineRows = maxInlineRows
    this.#isShared = isShared
    this.#idleMs = idleMs
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
    if (rows <= this.#maxInlineRows && stored.dictionary.size <= MAX_INLINE_BYTES) {
      const parts = await unpackColumn(packed)
      return this.#isShared ? inSharedMemory(parts) : parts
    }
    const waiting: Waiting = Promise.withResolvers()
    const request: UnpackRequest = { number: ++this.#last, packed, isShared: this.#isShared }
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#waiting.set(request.number, waiting)
    this.#worker.postMessage(request, [dictionary.buffer, codes.buffer])
    return waiting.promise
  }

  #start(): Worker {
    const worker = new Worker(new URL('./unpack-thread.ts', import.meta.url))
    worker.on('message', (reply: UnpackReply) => {
      const waiting = this.#waiting.get(reply.number)
      this.#waiting.delete(reply.number)
      if ('parts' in reply) waiting?.resolve(reply.parts)
      else waiting?.reject(errorOf(reply.failure))
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
