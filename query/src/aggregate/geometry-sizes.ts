import { Worker } from 'node:worker_threads'
import type { ColumnCache, Snapshot } from '@wayleave/geodata/features'
import type { TimedWork } from '../work/timed-work.ts'
import type { SizeKind, SizeReply, SizeRequest } from './geometry-sizes-thread.ts'

/** What is sent to the thread at once: bytes of features, and features. */
const CHUNK_BYTES = 1 << 20
const CHUNK_ROWS = 4096
const IDLE_MS = 60_000

interface Sizes {
  values: Float64Array
  /** The positions below this one are computed. */
  done: number
}

/**
 * Areas, lengths, and points on the surface of geometries, by position. A thread computes them once for each snapshot:
 * parsing and measuring a million shapes takes seconds. They are kept in the memory of the columns, also what an aborted
 * request has computed.
 */
export class GeometrySizes {
  readonly #cache: ColumnCache
  readonly #waiting = new Map<number, PromiseWithResolvers<Float64Array>>()
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | undefined
  #last = 0

  constructor(cache: ColumnCache) {
    this.#cache = cache
  }

  async load(snapshot: Snapshot, kind: SizeKind, work: TimedWork): Promise<Float64Array> {
    const { rows } = snapshot.manifest
    const key = `${snapshot.folder}\n${kind}`
    const width = kind === 'point' ? 2 : 1
    let sizes = this.#cache.derived<Sizes>(key)
    if (sizes === undefined) {
      sizes = { values: new Float64Array(rows * width), done: 0 }
      this.#cache.keep(key, sizes, sizes.values.byteLength)
    }
    // Features without a place come last and have no size.
    const { count } = snapshot.tree
    if (sizes.done === 0 && width === 2) sizes.values.fill(Number.NaN, count * 2)
    while (sizes.done < count) {
      const from = sizes.done
      const to = chunkEnd(snapshot, from, count)
      const values = await this.#compute(await requestOf(snapshot, kind, from, to))
      sizes.values.set(values, from * width)
      // Another request may have computed the same features meanwhile.
      sizes.done = Math.max(sizes.done, to)
      work.check()
    }
    return sizes.values
  }

  #compute(request: Omit<SizeRequest, 'number'>): Promise<Float64Array> {
    const waiting = Promise.withResolvers<Float64Array>()
    const number = ++this.#last
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#waiting.set(number, waiting)
    const buffers = [request.bytes.buffer, request.bounds.buffer] as ArrayBuffer[]
    this.#worker.postMessage({ ...request, number } satisfies SizeRequest, buffers)
    return waiting.promise
  }

  #start(): Worker {
    const worker = new Worker(new URL('./geometry-sizes-thread.ts', import.meta.url))
    worker.on('message', (reply: SizeReply) => {
      const waiting = this.#waiting.get(reply.number)
      this.#waiting.delete(reply.number)
      if ('values' in reply) waiting?.resolve(reply.values)
      else waiting?.reject(new Error(reply.failure))
      if (this.#waiting.size === 0) this.#rest(worker)
    })
    const end = (error: Error) => {
      if (this.#worker !== worker) return
      this.#worker = null
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    }
    worker.once('error', end)
    worker.once('exit', () => end(new Error('the thread that measures geometries ended')))
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

function chunkEnd({ offsets }: Snapshot, from: number, count: number): number {
  let to = from + 1
  const last = Math.min(count, from + CHUNK_ROWS)
  while (to < last && offsets[to + 1]! - offsets[from]! <= CHUNK_BYTES) to++
  return to
}

async function requestOf(
  snapshot: Snapshot,
  kind: SizeKind,
  from: number,
  to: number,
): Promise<Omit<SizeRequest, 'number'>> {
  const { offsets } = snapshot
  const pack = await snapshot.readPack(from, to)
  const bounds = new Float64Array((to - from) * 2)
  for (let i = 0; i < to - from; i++) {
    bounds[i * 2] = offsets[from + i]! - offsets[from]!
    // A separator of two bytes is between two features.
    bounds[i * 2 + 1] = i === to - from - 1 ? pack.length : offsets[from + i + 1]! - offsets[from]! - 2
  }
  // A copy, because its memory moves to the thread.
  return { kind, bytes: new Uint8Array(pack), bounds }
}
