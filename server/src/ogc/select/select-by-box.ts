import type { Geometry, Position } from '@wayleave/geodata/feature.ts'
import { intersectsBbox } from '@wayleave/geodata/geometry/intersects-bbox.ts'
import { mapPositions } from '@wayleave/geodata/geometry/map-positions.ts'
import type { TreeCount, TreeWalk } from '@wayleave/geodata/snapshot/index-tree.ts'
import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { BoxQuery } from '../request/box-query.ts'
import type { GeometryCache } from './geometry-cache.ts'
import type { PageUnderWay } from './page-builder.ts'
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

/** Finds the features that meet a box, in snapshot order, after a position. */
export function selectInTree({ tree }: Snapshot, { box }: BoxQuery, after: number, page: PageUnderWay): void {
  const walk = tree.walk(box, after + 1)
  while (!page.isFull && walk.next()) page.addRun(walk.begin, walk.end)
}

/**
 * The same where geometries decide about features that the box does not hold whole. It stops wherever it needs
 * a geometry that is not at hand: then the page is either waited for or given up.
 */
export class BoxSearch {
  readonly #snapshot: Snapshot
  readonly #query: BoxQuery
  readonly #geometries: GeometryCache
  readonly #page: PageUnderWay
  readonly #isDecidedInside: boolean
  readonly #walk: TreeWalk
  /** The next of the walk's run. */
  #next = 0

  constructor(
    snapshot: Snapshot,
    query: BoxQuery,
    geometries: GeometryCache,
    after: number,
    page: PageUnderWay,
  ) {
    this.#snapshot = snapshot
    this.#query = query
    this.#geometries = geometries
    this.#page = page
    this.#isDecidedInside = isDecidedInside(snapshot.manifest, query)
    this.#walk = snapshot.tree.walk(query.box, after + 1)
  }

  /**
   * Goes on, with the geometry that was needed, and answers the position of the next one needed; ENDED at the
   * end, PAUSED where it has gone on for so long that others should have their turn.
   */
  advance(needed?: Geometry | null): number {
    let known = needed
    const walk = this.#walk
    const until = performance.now() + SLICE_MS
    for (let steps = 1; !this.#page.isFull; steps++) {
      if (steps % 16 === 0 && performance.now() > until) return PAUSED
      if (this.#next === walk.end) {
        if (!walk.next()) return ENDED
        this.#next = walk.begin
      }
      if (walk.isCertain && this.#isDecidedInside) {
        this.#page.addRun(this.#next, walk.end)
        this.#next = walk.end
        continue
      }
      const position = this.#next
      if (known === undefined) known = this.#geometries.peek(this.#snapshot, position)
      if (known === undefined) return position
      if (meets(known, this.#query)) this.#page.add(position)
      known = undefined
      this.#next++
    }
    return ENDED
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
