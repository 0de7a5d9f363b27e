import { Worker } from 'node:worker_threads'
import type { Snapshot } from '@wayleave/geodata/features'
import type { GeometryReply, GeometryRequest, GeometryTasks, PackedFeatures } from './geometry-thread.ts'

/** What is sent to the thread at once: bytes of features, and features. */
const CHUNK_BYTES = 1 << 20
const CHUNK_ROWS = 4096
const IDLE_MS = 60_000

/** Computes with geometries in a thread: parsing a shape and preparing it may take longer than others should wait. */
export class InGeometryThread {
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | undefined
  #last = 0

  /** Moves the memory of `features` to the thread. */
  perform<T extends keyof GeometryTasks>(
    task: T,
    request: GeometryTasks[T]['request'],
  ): Promise<GeometryTasks[T]['value']> {
    const waiting = Promise.withResolvers<unknown>()
    const number = ++this.#last
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#waiting.set(number, waiting)
    const features = 'features' in request ? request.features : null
    const moved = features ? ([features.bytes.buffer, features.bounds.buffer] as ArrayBuffer[]) : []
    this.#worker.postMessage({ number, task, request } as GeometryRequest, moved)
    return waiting.promise as Promise<GeometryTasks[T]['value']>
  }

  #start(): Worker {
    const worker = new Worker(new URL('./geometry-thread.ts', import.meta.url))
    worker.on('message', (reply: GeometryReply) => {
      const waiting = this.#waiting.get(reply.number)
      this.#waiting.delete(reply.number)
      if ('value' in reply) waiting?.resolve(reply.value)
      else waiting?.reject(new Error(reply.failure))
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
    worker.once('exit', () => end(new Error('the thread that computes with geometries ended')))
    return worker
  }

  /** An idle thread does not keep the process running, and ends after a while. */
  #rest(worker: Worker): void {
    worker.unref()
    this.#idle = setTimeout(() => {
      this.#worker = null
      void worker.terminate()
    }, IDLE_MS).unref()
  }
}

/** Reads the features from `from` on, of `count`, that are sent at once; `to` is where they end. */
export async function packedFeatures(
  snapshot: Snapshot,
  from: number,
  count: number,
): Promise<{ to: number; features: PackedFeatures }> {
  const positions = Uint32Array.from({ length: Math.min(count - from, CHUNK_ROWS) }, (_, i) => from + i)
  const sizes = await snapshot.sizesOf(positions)
  const bounds: number[] = []
  let end = 0
  for (const size of sizes) {
    if (end > 0 && end + size > CHUNK_BYTES) break
    // A separator of two bytes is after each feature.
    bounds.push(end, end + size - 2)
    end += size
  }
  const to = from + bounds.length / 2
  // A copy, because its memory moves to the thread.
  const bytes = new Uint8Array(await snapshot.readPack(from, to))
  return { to, features: { bytes, bounds: Float64Array.from(bounds) } }
}
