import type { Geometry } from '@wayleave/geodata/feature.ts'
import { sliceFeature } from '@wayleave/geodata/pack/pack.ts'
import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'

interface Kept {
  geometry: Geometry | null
  bytes: number
}

/**
 * Geometries that were parsed to be compared. Shapes on the edge of what people look at are asked for again
 * and again, and a country's outline takes longer to parse than to compare. The oldest leave first.
 */
export class GeometryCache {
  readonly #maxBytes: number
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  /** Counted in bytes of GeoJSON text, of which parsed geometries take about five times as many. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Without waiting: undefined where it must be read. A flat point stands in the tree already. */
  peek(snapshot: Snapshot, position: number): Geometry | null | undefined {
    const { tree, manifest } = snapshot
    if (tree.isPoints && !manifest.hasZ && position < tree.count) {
      const [x, y] = tree.box(position)
      return { type: 'Point', coordinates: [x, y] }
    }
    return this.#kept.get(keyOf(snapshot, position))?.geometry
  }

  async read(snapshot: Snapshot, position: number): Promise<Geometry | null> {
    const known = this.peek(snapshot, position)
    if (known !== undefined) return known
    const key = keyOf(snapshot, position)
    const text = sliceFeature(await snapshot.readPack(position, position + 1)).geometry
    const geometry = JSON.parse(text.toString('utf8')) as Geometry | null
    this.#keep(key, { geometry, bytes: text.length + 100 })
    return geometry
  }

  #keep(key: string, kept: Kept): void {
    if (kept.bytes > this.#maxBytes || this.#kept.has(key)) return
    this.#kept.set(key, kept)
    this.#bytes += kept.bytes
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break
      this.#kept.delete(oldest)
      this.#bytes -= bytes
    }
  }
}

function keyOf({ folder }: Snapshot, position: number): string {
  return `${folder} ${position}`
}
