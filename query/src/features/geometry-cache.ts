import { BoundedCache } from '@wayleave/geodata/base'
import { type Snapshot, sliceFeature } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'

interface Kept {
  geometry: Geometry | null
  bytes: number
}

/**
 * A cache of parsed geometries for comparisons. Shapes on the edge of a popular area are requested
 * repeatedly, and parsing a country's outline takes longer than comparing it. Evicts in FIFO order.
 */
export class GeometryCache {
  readonly #geometries: BoundedCache<string, Kept>

  /** `maxBytes` counts bytes of GeoJSON text; parsed geometries take about five times as much memory. */
  constructor(maxBytes: number) {
    this.#geometries = new BoundedCache(maxBytes, ({ bytes }) => bytes)
  }

  /** Synchronous; undefined if the geometry must be read. A 2D point is in the tree. */
  peek(snapshot: Snapshot, position: number): Geometry | null | undefined {
    const { tree, manifest } = snapshot
    if (tree.isPoints && !manifest.hasZ && position < tree.count) {
      const box = tree.box(position)
      if (box) return { type: 'Point', coordinates: [box[0], box[1]] }
    }
    return this.#geometries.get(keyOf(snapshot, position))?.geometry
  }

  async read(snapshot: Snapshot, position: number): Promise<Geometry | null> {
    const cached = this.peek(snapshot, position)
    if (cached !== undefined) return cached
    const key = keyOf(snapshot, position)
    const text = sliceFeature(await snapshot.readPack(position, position + 1)).geometry
    const geometry = JSON.parse(text.toString('utf8')) as Geometry | null
    this.#geometries.set(key, { geometry, bytes: text.length + 100 })
    return geometry
  }
}

function keyOf({ folder }: Snapshot, position: number): string {
  return `${folder} ${position}`
}
