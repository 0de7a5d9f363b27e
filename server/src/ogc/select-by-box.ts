import type { Geometry, Position } from '@wayleave/geodata/feature.ts'
import { intersectsBbox } from '@wayleave/geodata/geometry/intersects-bbox.ts'
import { mapPositions } from '@wayleave/geodata/geometry/map-positions.ts'
import type { TreeCount } from '@wayleave/geodata/snapshot/index-tree.ts'
import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { BoxQuery } from './box-query.ts'
import type { GeometryCache } from './geometry-cache.ts'
import { type Selected, selectFound } from './selected.ts'
import { SLICE_MS } from './take-turns.ts'

/** How many nodes and leaves of the tree counting may look at, and how many geometries. */
const COUNT_BUDGET = 600
const COUNT_GEOMETRIES = 64

export const ENDED = -1
export const PAUSED = -2

/** Whether the box of a feature tells all: points are their boxes. */
export function isDecidedByTree({ tree, manifest }: Snapshot, query: BoxQuery): boolean {
  return tree.isPoints && isDecidedInside(manifest, query)
}

/** Whether a feature whose box lies inside the query's meets it for sure. */
function isDecidedInside({ hasZ }: Snapshot['manifest'], { projected, heights }: BoxQuery): boolean {
  return projected === null && !(heights && hasZ)
}

/**
 * The features that meet a box, in snapshot order, after a position and passing over `skip`; one more than the
 * limit is looked for. They are put into `into`, where it is given.
 */
export function selectInTree(
  { tree }: Snapshot,
  { box }: BoxQuery,
  after: number,
  skip: number,
  limit: number,
  into: Uint32Array = new Uint32Array(limit + 1),
): Selected {
  let from = after
  for (let left = skip; left > 0; ) {
    const skipped = new Uint32Array(Math.min(left, 4096))
    const found = tree.search(box, from, skipped)
    if (found < skipped.length) return selectFound(skipped, 0, limit)
    from = skipped[found - 1]!
    left -= found
  }
  return selectFound(into, tree.search(box, from, into), limit)
}

/**
 * The same where geometries decide about features that the box does not hold whole. It stops wherever it needs
 * a geometry that is not at hand: then the page is either waited for or given up.
 */
export class BoxSearch {
  readonly #snapshot: Snapshot
  readonly #query: BoxQuery
  readonly #geometries: GeometryCache
  readonly #limit: number
  readonly #isDecidedInside: boolean
  readonly #positions: Uint32Array
  readonly #candidates: Uint32Array
  readonly #certain: Uint8Array
  #from: number
  #skip: number
  #count = 0
  #found = 0
  #next = 0
  #hasMore = true

  constructor(
    snapshot: Snapshot,
    query: BoxQuery,
    geometries: GeometryCache,
    { after, skip, limit }: { after: number; skip: number; limit: number },
  ) {
    this.#snapshot = snapshot
    this.#query = query
    this.#geometries = geometries
    this.#limit = limit
    this.#isDecidedInside = isDecidedInside(snapshot.manifest, query)
    this.#positions = new Uint32Array(limit + 1)
    this.#candidates = new Uint32Array(Math.min(limit + 16, 1024))
    this.#certain = new Uint8Array(this.#candidates.length)
    this.#from = after
    this.#skip = skip
  }

  get selected(): Selected {
    return selectFound(this.#positions, this.#count, this.#limit)
  }

  /**
   * Goes on, with the geometry that was needed, and answers the position of the next one needed; ENDED at the
   * end, PAUSED where it has gone on for so long that others should have their turn.
   */
  advance(needed?: Geometry | null): number {
    let known = needed
    const until = performance.now() + SLICE_MS
    for (let steps = 1; this.#count <= this.#limit; steps++) {
      if (steps % 16 === 0 && performance.now() > until) return PAUSED
      if (this.#next === this.#found && !this.#searchOn()) return ENDED
      const position = this.#candidates[this.#next]!
      if (!(this.#isDecidedInside && this.#certain[this.#next] === 1)) {
        known ??= this.#geometries.peek(this.#snapshot, position)
        if (known === undefined) return position
        if (!meets(known, this.#query)) {
          this.#next++
          known = undefined
          continue
        }
      }
      this.#next++
      known = undefined
      if (this.#skip > 0) this.#skip--
      else this.#positions[this.#count++] = position
    }
    return ENDED
  }

  #searchOn(): boolean {
    if (!this.#hasMore) return false
    this.#found = this.#snapshot.tree.search(this.#query.box, this.#from, this.#candidates, this.#certain)
    this.#next = 0
    this.#hasMore = this.#found === this.#candidates.length
    if (this.#found > 0) this.#from = this.#candidates[this.#found - 1]!
    return this.#found > 0
  }
}

/** Whether the geometry itself meets what is asked, and not only its box. */
export function meets(geometry: Geometry | null, { box, heights, projected }: BoxQuery): boolean {
  if (geometry === null) return false
  if (heights && !meetsHeights(geometry, heights)) return false
  if (projected === null) return intersectsBbox(geometry, box)
  return intersectsBbox(mapPositions(geometry, projected.transform), projected.box)
}

function meetsHeights(geometry: Geometry, [low, high]: [number, number]): boolean {
  let least = Infinity
  let most = -Infinity
  eachPosition(geometry, (position) => {
    const height = position[2]
    if (height === undefined) return
    if (height < least) least = height
    if (height > most) most = height
  })
  // A feature without heights lies at none: only its place is compared.
  return least > most || (least <= high && most >= low)
}

/**
 * How many features meet the box, where that is cheap to know, else null; undefined where geometries decide that
 * are not at hand.
 */
export function countAtHand(
  snapshot: Snapshot,
  query: BoxQuery,
  geometries: GeometryCache,
): number | null | undefined {
  const counted = countCheaply(snapshot, query)
  if (counted === null) return null
  let count = counted.certain
  for (const position of counted.uncertain) {
    const known = geometries.peek(snapshot, position)
    if (known === undefined) return undefined
    if (meets(known, query)) count++
  }
  return count
}

/** The same with those geometries read. */
export async function countByBox(
  snapshot: Snapshot,
  query: BoxQuery,
  geometries: GeometryCache,
): Promise<number | null> {
  const counted = countCheaply(snapshot, query)
  if (counted === null) return null
  let count = counted.certain
  for (const position of counted.uncertain) {
    if (meets(await geometries.read(snapshot, position), query)) count++
  }
  return count
}

function countCheaply({ tree, manifest }: Snapshot, query: BoxQuery): TreeCount | null {
  if (!isDecidedInside(manifest, query)) return null
  const counted = tree.countWithin(query.box, COUNT_BUDGET)
  if (counted === null) return null
  if (tree.isPoints) return { certain: counted.certain + counted.uncertain.length, uncertain: [] }
  return counted.uncertain.length > COUNT_GEOMETRIES ? null : counted
}

function eachPosition(geometry: Geometry, visit: (position: Position) => void): void {
  mapPositions(geometry, (position) => {
    visit(position)
    return position
  })
}
