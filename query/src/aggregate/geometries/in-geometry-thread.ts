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
