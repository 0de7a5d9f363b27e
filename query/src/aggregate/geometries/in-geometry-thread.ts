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

/** The end of the features from `from` on that are sent at once. */
export function chunkEnd({ offsets }: Snapshot, from: number, count: number): number {
  let to = from + 1
  const last = Math.min(count, from + CHUNK_ROWS)
  while (to < last && offsets[to + 1]! - offsets[from]! <= CHUNK_BYTES) to++
  return to
}

export async function packedFeatures(snapshot: Snapshot, from: number, to: number): Promise<PackedFeatures> {
  const { offsets } = snapshot
  const pack = await snapshot.readPack(from, to)
  const bounds = new Float64Array((to - from) * 2)
  for (let i = 0; i < to - from; i++) {
    bounds[i * 2] = offsets[from + i]! - offsets[from]!
    // A separator of two bytes is between two features.
    bounds[i * 2 + 1] = i === to - from - 1 ? pack.length : offsets[from + i + 1]! - offsets[from]! - 2
  }
  // A copy, because its memory moves to the thread.
  return { bytes: new Uint8Array(pack), bounds }
}
