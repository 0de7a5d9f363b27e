import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import type { ReadableFile } from '../../snapshot/snapshot-files.ts'
import { errorOf, type ThreadFailure } from '../../snapshot/thread-failure.ts'
import { fillFrom, replyToRead } from '../../threads/remote-file.ts'
import type { TileSnapshot } from './tile-snapshot.ts'
import type { SelectedTile, TileReply, TileRequest } from './tile-thread.ts'

/** Max threads. Each takes about 15 MB besides what it reads. */
const MAX_THREADS = 8
/** How many snapshots a thread has open; the memory of their indexes is shared. */
const MAX_OPEN = 4
/** Bytes of a pack that all threads together keep for a snapshot. */
const MAX_PACK_BYTES = 96 << 20

/** A tile that is to be made. */
interface Order {
  snapshot: TileSnapshot
  selected: SelectedTile
  /** The pack, if it is not in the folder. */
  pack: ReadableFile | null
  resolve(bytes: Buffer): void
  reject(error: unknown): void
}

/**
 * Runs `SelectedTiles` in as many threads as the machine has cores. A thread is started when all others are busy,
 * and again if it ends. Tiles wait here and not in the threads, so that one whose client has left is not made.
 */
export class TileThreads {
  readonly #threads = new Set<TileThread>()
  readonly #waiting = new Set<Order>()
  readonly #max: number

  constructor(max = Math.min(MAX_THREADS, availableParallelism())) {
    this.#max = max
  }

  /**
   * The gzipped tile; empty if it shows nothing. `pack` is the pack if it is not in the folder; it stays open until
   * the tile is made. Rejects with the reason of the signal if it aborts before a thread has begun.
   */
  encode(
    snapshot: TileSnapshot,
    selected: SelectedTile,
    { pack = null, signal }: { pack?: ReadableFile | null; signal?: AbortSignal } = {},
  ): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    const order: Order = { snapshot, selected, pack, resolve, reject }
    const abort = () => {
      if (this.#waiting.delete(order)) reject(signal!.reason)
    }
    if (signal?.aborted) return Promise.reject(signal.reason)
    this.#waiting.add(order)
    signal?.addEventListener('abort', abort, { once: true })
    this.#serve()
    return promise.finally(() => signal?.removeEventListener('abort', abort))
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#threads, (thread) => thread.terminate()))
  }

  #serve(): void {
    for (const order of this.#waiting) {
      const thread = this.#idleThread(order.snapshot)
      if (thread === null) return
      this.#waiting.delete(order)
      thread.run(order)
    }
  }

  /** An idle thread, preferably one that has the snapshot open; null if all are busy. */
  #idleThread({ folder }: TileSnapshot): TileThread | null {
    const idle = Array.from(this.#threads).filter((thread) => thread.isIdle)
    const chosen = idle.find((thread) => thread.hasOpen(folder)) ?? idle[0]
    if (chosen || this.#threads.size >= this.#max) return chosen ?? null
    const thread = new TileThread(Math.floor(MAX_PACK_BYTES / this.#max), {
      idle: () => this.#serve(),
      ended: () => {
        this.#threads.delete(thread)
        this.#serve()
      },
    })
    this.#threads.add(thread)
    return thread
  }
}

/** One thread, which makes one tile at a time. */
class TileThread {
  readonly #worker = new Worker(new URL('./tile-thread.ts', import.meta.url))
  readonly #maxBytes: number
  /** The folders of the snapshots that the thread has open, least recently used first. */
  readonly #open = new Set<string>()
  #order: Order | null = null
  /** The first error of a read of the pack for this order. */
  #failure: unknown = null

  constructor(maxBytes: number, on: { idle(): void; ended(): void }) {
    this.#maxBytes = maxBytes
    this.#worker.unref()
    this.#worker.on('message', (reply: TileReply) => {
      if ('prefetch' in reply) this.#order?.pack?.prefetch?.(reply.prefetch)
      else if ('read' in reply) {
        const fill = (bytes: Uint8Array, from: number) =>
          fillFrom(this.#order!.pack!, SNAPSHOT_FILES.pack, bytes, from)
        replyToRead(reply, fill).catch((error: unknown) => {
          this.#failure ??= error
        })
      } else {
        this.#finish(reply)
        on.idle()
      }
    })
    const end = (error: Error) => {
      this.#order?.reject(error)
      this.#order = null
      on.ended()
    }
    this.#worker.once('error', end)
    this.#worker.once('exit', () => end(new Error('the thread that makes tiles ended')))
  }

  get isIdle(): boolean {
    return this.#order === null
  }

  hasOpen(folder: string): boolean {
    return this.#open.has(folder)
  }

  run(order: Order): void {
    const { snapshot, selected, pack } = order
    const { folder } = snapshot
    const isOpen = this.#open.delete(folder)
    this.#open.add(folder)
    const close = Array.from(this.#open).slice(0, -MAX_OPEN)
    for (const closed of close) this.#open.delete(closed)
    const open = isOpen ? null : { snapshot, isRemote: pack !== null, maxBytes: this.#maxBytes }
    this.#order = order
    this.#failure = null
    this.#worker.postMessage({ folder, selected, open, close } satisfies TileRequest)
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }

  #finish(reply: Extract<TileReply, { bytes: Uint8Array } | { failure: ThreadFailure }>): void {
    const order = this.#order
    this.#order = null
    if ('bytes' in reply)
      order?.resolve(Buffer.from(reply.bytes.buffer, reply.bytes.byteOffset, reply.bytes.length))
    else {
      if (order) this.#open.delete(order.snapshot.folder)
      order?.reject(('failed' in reply.failure && this.#failure) || errorOf(reply.failure))
    }
  }
}
