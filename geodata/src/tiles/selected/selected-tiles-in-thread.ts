import { Worker } from 'node:worker_threads'
import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import type { SelectedTileReply, SelectedTileRequest } from './selected-tiles-thread.ts'

interface Waiting {
  resolve: (bytes: Buffer) => void
  reject: (error: Error) => void
}

/** Runs `SelectedTiles` in one thread, which is started with the first tile and again if it ends. */
export class SelectedTilesInThread {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | null = null
  #last = 0

  /** How many tiles are under way. */
  get waiting(): number {
    return this.#waiting.size
  }

  encode(request: Omit<SelectedTileRequest, 'number'>): Promise<Buffer> {
    const number = ++this.#last
    this.#worker ??= this.#start()
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    this.#waiting.set(number, { resolve, reject })
    this.#worker.postMessage({ ...request, number } satisfies SelectedTileRequest)
    return promise
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./selected-tiles-thread.ts', import.meta.url))
    worker.unref()
    worker.on('message', (reply: SelectedTileReply) => {
      const waiting = this.#waiting.get(reply.number)
      this.#waiting.delete(reply.number)
      if ('bytes' in reply) waiting?.resolve(Buffer.from(reply.bytes))
      else if ('damaged' in reply)
        waiting?.reject(new DamagedSnapshotError(reply.damaged.file, reply.damaged.message))
      else waiting?.reject(new Error(reply.failed))
    })
    const end = (error: Error) => {
      if (this.#worker === worker) this.#worker = null
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.once('error', end)
    worker.once('exit', () => end(new Error('the thread that makes tiles ended')))
    return worker
  }
}
