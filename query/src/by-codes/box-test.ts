import type { Snapshot } from '@wayleave/geodata/features'
import type { Geometry } from '@wayleave/geodata/geometry'
import { isDecidedByTree, isDecidedInside, meets } from '../by-tree/select-by-box.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import type { BoxQuery } from '../plan/box-query.ts'

/** Tests single features against a box, by their own boxes as far as these decide. */
export class BoxTest {
  readonly query: BoxQuery
  /** Whether features without a location match every box. */
  readonly isPlacelessMatch: boolean
  /** Whether features whose boxes lie inside the box certainly match. */
  readonly isDecidedInside: boolean
  readonly #snapshot: Snapshot
  readonly #geometries: GeometryCache
  readonly #isDecidedByTree: boolean

  constructor(snapshot: Snapshot, query: BoxQuery, geometries: GeometryCache) {
    this.#snapshot = snapshot
    this.#geometries = geometries
    this.query = query
    this.isPlacelessMatch = meets(null, query)
    this.isDecidedInside = isDecidedInside(snapshot.manifest, query)
    this.#isDecidedByTree = isDecidedByTree(snapshot, query)
  }

  /** Undefined if the geometry has to be read, null if a block of the index has to be. */
  test(position: number): boolean | null | undefined {
    const { tree } = this.#snapshot
    if (position >= tree.count) return this.isPlacelessMatch
    const box = tree.box(position)
    if (box === undefined) return null
    if (!overlaps(box, this.query.box)) return false
    if (this.#isDecidedByTree) return true
    const geometry = this.#geometries.peek(this.#snapshot, position)
    return geometry === undefined ? undefined : this.testGeometry(geometry)
  }

  testGeometry(geometry: Geometry | null): boolean {
    return meets(geometry, this.query)
  }
}

function overlaps([w, s, e, n]: readonly number[], [west, south, east, north]: readonly number[]): boolean {
  if (s! > north! || n! < south!) return false
  // Across the antimeridian the box is two.
  return west! <= east! ? w! <= east! && e! >= west! : e! >= west! || w! <= east!
}
