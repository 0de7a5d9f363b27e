import type { ColumnCache, Snapshot } from '@wayleave/geodata/features'
import type { TimedWork } from '../../work/timed-work.ts'
import type { SizeKind } from './geometry-thread.ts'
import { type InGeometryThread, packedFeatures } from './in-geometry-thread.ts'

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
  readonly #thread: InGeometryThread

  constructor(cache: ColumnCache, thread: InGeometryThread) {
    this.#cache = cache
    this.#thread = thread
  }

  async load(snapshot: Snapshot, kind: SizeKind, work: TimedWork): Promise<Float64Array> {
    const { rows } = snapshot.manifest
    const key = `${snapshot.folder}\n${kind}`
    const width = kind === 'point' ? 2 : 1
    let sizes = this.#cache.derived<Sizes>(key)
    if (sizes === undefined) {
      // Shared, because the thread reads points again to find their zones.
      sizes = { values: new Float64Array(new SharedArrayBuffer(rows * width * 8)), done: 0 }
      this.#cache.keep(key, sizes, sizes.values.byteLength)
    }
    // Features without a place come last and have no size.
    const { count } = snapshot.tree
    if (sizes.done === 0 && width === 2) sizes.values.fill(Number.NaN, count * 2)
    while (sizes.done < count) {
      const from = sizes.done
      const { to, features } = await packedFeatures(snapshot, from, count)
      sizes.values.set(await this.#thread.perform('sizes', { kind, features }), from * width)
      // Another request may have computed the same features meanwhile.
      sizes.done = Math.max(sizes.done, to)
      work.check()
    }
    return sizes.values
  }
}
