import type { Snapshot, TreeCount, TreeWalk } from '@wayleave/geodata/features'
import { type Geometry, intersectsBbox, mapPositions, type Position } from '@wayleave/geodata/geometry'
import type { GeometryCache } from '../features/geometry-cache.ts'
import { BLOCKED, ENDED, PAUSED, type SlicedWork } from '../features/sliced-work.ts'
import type { BoxQuery } from '../plan/box-query.ts'
import type { PageBuilder } from '../positions/page-builder.ts'
import { begin, finish, type MaybeUnfinished, need, type Steps, Unfinished } from '../work/unfinished.ts'

/** Max nodes and leaves of the tree, and max geometries, that counting may visit. */
const COUNT_BUDGET = 600
const COUNT_GEOMETRIES = 64

/** Whether the features' boxes alone decide: a point equals its box. */
export function isDecidedByTree({ tree, manifest }: Snapshot, query: BoxQuery): boolean {
  return tree.isPoints && isDecidedInside(manifest, query)
}

/** Whether a feature whose box is inside the query's box certainly matches. */
export function isDecidedInside({ hasZ }: Snapshot['manifest'], { projected, heights }: BoxQuery): boolean {
  return projected === null && !(heights && hasZ)
}

/**
 * Finds the features that match a box, after a position, in snapshot order. Returns false if a part of the index has
 * to be read.
 */
export function selectInTree(
  snapshot: Snapshot,
  { box }: BoxQuery,
  after: number,
  page: PageBuilder,
): boolean {
  const walk = snapshot.tree.walk(box, after + 1)
  while (!page.isFull && walk.next()) page.addRun(walk.begin, walk.end)
  if (walk.isBlocked) return false
  addPlaceless(snapshot, after, page)
  return true
}

/**
 * Features without a geometry match every box (OGC 17-069r4, /req/core/fc-bbox-response). They are the last
 * ones of a snapshot.
 */
function addPlaceless({ tree, manifest }: Snapshot, after: number, page: PageBuilder): void {
  const first = Math.max(tree.count, after + 1)
  if (!page.isFull && first < manifest.rows) page.addRun(first, manifest.rows)
}

/**
 * The same if geometries decide about features that are not completely inside the box. It stops whenever it
 * needs a geometry that is not cached.
 */
export class BoxSearch implements SlicedWork {
  readonly #snapshot: Snapshot
  readonly #query: BoxQuery
  readonly #geometries: GeometryCache
  readonly #page: PageBuilder
  readonly #isDecidedInside: boolean
  readonly #walk: TreeWalk
  readonly #after: number
  /** The next position in the walk's current run. */
  #next = 0

  constructor(
    snapshot: Snapshot,
    query: BoxQuery,
    geometries: GeometryCache,
    after: number,
    page: PageBuilder,
  ) {
    this.#snapshot = snapshot
    this.#query = query
    this.#geometries = geometries
    this.#page = page
    this.#isDecidedInside = isDecidedInside(snapshot.manifest, query)
    this.#walk = snapshot.tree.walk(query.box, after + 1)
    this.#after = after
  }

  advance(until: number, needed?: Geometry | null): number {
    let geometry = needed
    const walk = this.#walk
    for (let steps = 1; !this.#page.isFull; steps++) {
      if (steps % 16 === 0 && performance.now() > until) return PAUSED
      if (this.#next === walk.end) {
        if (!walk.next()) {
          if (walk.isBlocked) return BLOCKED
          addPlaceless(this.#snapshot, this.#after, this.#page)
          return ENDED
        }
        this.#next = walk.begin
      }
      if (walk.isCertain && this.#isDecidedInside) {
        this.#page.addRun(this.#next, walk.end)
        this.#next = walk.end
        continue
      }
      const position = this.#next
      if (geometry === undefined) geometry = this.#geometries.peek(this.#snapshot, position)
      if (geometry === undefined) return position
      if (meets(geometry, this.#query)) this.#page.add(position)
      geometry = undefined
      this.#next++
    }
    return ENDED
  }
}

/** Whether the geometry itself, not only its box, matches the query. A missing or empty one always does. */
export function meets(geometry: Geometry | null, { box, heights, projected }: BoxQuery): boolean {
  if (geometry === null || isEmpty(geometry)) return true
  if (heights && !meetsHeights(geometry, heights)) return false
  if (projected === null) return intersectsBbox(geometry, box)
  return intersectsBbox(mapPositions(geometry, projected.transform), projected.box)
}

/** Looks no further than the first position: outlines have thousands. */
function isEmpty(geometry: Geometry): boolean {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.every(isEmpty)
  return !hasNumber(geometry.coordinates)
}

function hasNumber(coordinates: unknown): boolean {
  return Array.isArray(coordinates) ? coordinates.some(hasNumber) : true
}

function meetsHeights(geometry: Geometry, [low, high]: [number, number]): boolean {
  let min = Infinity
  let max = -Infinity
  eachPosition(geometry, (position) => {
    const height = position[2]
    if (height === undefined) return
    if (height < min) min = height
    if (height > max) max = height
  })
  // For a feature without heights only the horizontal position is compared.
  return min > max || (min <= high && max >= low)
}

/** The number of features that match the box; null if it is not cheap to determine. */
export function countByBox(
  snapshot: Snapshot,
  query: BoxQuery,
  geometries: GeometryCache,
): MaybeUnfinished<number | null> {
  const counted = countCheaply(snapshot, query)
  if (counted === null) return null
  if (counted === undefined) return whenLoaded(snapshot, () => countByBox(snapshot, query, geometries))
  if (counted.uncertain.length === 0) return counted.certain
  return begin(countUncertain(snapshot, query, geometries, counted))
}

function* countUncertain(
  snapshot: Snapshot,
  query: BoxQuery,
  geometries: GeometryCache,
  { certain, uncertain }: TreeCount,
): Steps<number> {
  let count = certain
  for (const position of uncertain) {
    let geometry = geometries.peek(snapshot, position)
    if (geometry === undefined) {
      geometry = yield* need(async (work) => {
        await work.next()
        return geometries.read(snapshot, position)
      })
    }
    if (meets(geometry, query)) count++
  }
  return count
}

/** Whether the features of a box are decided by the tree and by reading a few geometries. */
export function isCheapInBox(snapshot: Snapshot, query: BoxQuery): MaybeUnfinished<boolean> {
  if (isDecidedByTree(snapshot, query)) return true
  const counted = countCheaply(snapshot, query)
  return counted === undefined ? whenLoaded(snapshot, () => isCheapInBox(snapshot, query)) : counted !== null
}

/** Continues with `next` after the missing block of the tree was read. */
function whenLoaded<T>({ tree }: Snapshot, next: () => MaybeUnfinished<T>): Unfinished<T> {
  return new Unfinished(async (work) => {
    await tree.loadMissing()
    return finish(next(), work)
  })
}

/** Null if it is expensive, undefined if a part of the tree has to be read. */
function countCheaply({ tree, manifest }: Snapshot, query: BoxQuery): TreeCount | null | undefined {
  if (!isDecidedInside(manifest, query)) return null
  const counted = tree.countWithin(query.box, COUNT_BUDGET)
  if (!counted) return counted
  const certain = counted.certain + manifest.rows - tree.count
  if (tree.isPoints) return { certain: certain + counted.uncertain.length, uncertain: [] }
  return counted.uncertain.length > COUNT_GEOMETRIES ? null : { ...counted, certain }
}

function eachPosition(geometry: Geometry, visit: (position: Position) => void): void {
  mapPositions(geometry, (position) => {
    visit(position)
    return position
  })
}
