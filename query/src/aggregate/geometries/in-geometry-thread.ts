import { RequestThread } from '@wayleave/geodata/base'
import type { Snapshot } from '@wayleave/geodata/features'
import type { GeometryRequest, GeometryTasks, PackedFeatures } from './geometry-thread.ts'

/** What is sent to the thread at once: bytes of features, and features. */
const CHUNK_BYTES = 1 << 20
const CHUNK_ROWS = 4096
const IDLE_MS = 60_000

/** Computes with geometries in a thread: parsing a shape and preparing it may take longer than others should wait. */
export class InGeometryThread {
  readonly #thread = new RequestThread<GeometryRequest, unknown>(
    new URL('./geometry-thread.ts', import.meta.url),
    IDLE_MS,
  )

  /** Moves the memory of `features` to the thread. */
  perform<T extends keyof GeometryTasks>(
    task: T,
    request: GeometryTasks[T]['request'],
  ): Promise<GeometryTasks[T]['value']> {
    const features = 'features' in request ? request.features : null
    const moved = features ? ([features.bytes.buffer, features.bounds.buffer] as ArrayBuffer[]) : []
    const value = this.#thread.perform({ task, request } as GeometryRequest, moved)
    return value as Promise<GeometryTasks[T]['value']>
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
