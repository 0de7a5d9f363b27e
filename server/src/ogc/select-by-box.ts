import type { Geometry, Position } from '@wayleave/geodata/feature.ts'
import { intersectsBbox } from '@wayleave/geodata/geometry/intersects-bbox.ts'
import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { BoxQuery } from './box-query.ts'
import type { GeometryCache } from './geometry-cache.ts'
import { type Selected, selectFound } from './selected.ts'

/** How many nodes and leaves of the tree counting may look at, and how many geometries. */
const COUNT_BUDGET = 600
const COUNT_GEOMETRIES = 64

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

/** The same where geometries decide about features that the box does not hold. */
export async function selectByGeometry(
  snapshot: Snapshot,
  query: BoxQuery,
  geometries: GeometryCache,
  after: number,
  skip: number,
  limit: number,
): Promise<Selected> {
  const isDecided = isDecidedInside(snapshot.manifest, query)
  const wanted = limit + 1
  const positions = new Uint32Array(wanted)
  const candidates = new Uint32Array(Math.min(wanted + 16, 1024))
  const certain = new Uint8Array(candidates.length)
  let count = 0
  let left = skip
  for (let from = after; count < wanted; ) {
    const found = snapshot.tree.search(query.box, from, candidates, certain)
    for (let i = 0; i < found && count < wanted; i++) {
      const position = candidates[i]!
      if (!(isDecided && certain[i] === 1)) {
        const cached = geometries.peek(snapshot, position)
        const geometry = cached === undefined ? await geometries.read(snapshot, position) : cached
        if (!meets(geometry, query)) continue
      }
      if (left > 0) left--
      else positions[count++] = position
    }
    if (found < candidates.length) break
    from = candidates[found - 1]!
  }
  return selectFound(positions, count, limit)
}

/** Whether the geometry itself meets what is asked, and not only its box. */
export function meets(geometry: Geometry | null, { box, heights, projected }: BoxQuery): boolean {
  if (geometry === null) return false
  if (heights && !meetsHeights(geometry, heights)) return false
  if (projected === null) return intersectsBbox(geometry, box)
  return intersectsBbox(transformed(geometry, projected.transform), projected.box)
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

/** How many features meet the box, where that is cheap to know, else null. */
export function countByBox(
  snapshot: Snapshot,
  query: BoxQuery,
  geometries: GeometryCache,
): number | null | Promise<number | null> {
  const { tree, manifest } = snapshot
  if (!isDecidedInside(manifest, query)) return null
  const counted = tree.countWithin(query.box, COUNT_BUDGET)
  if (counted === null) return null
  const { certain, uncertain } = counted
  if (uncertain.length === 0 || tree.isPoints) return certain + uncertain.length
  if (uncertain.length > COUNT_GEOMETRIES) return null
  return countMeeting(snapshot, query, geometries, uncertain).then((more) => certain + more)
}

async function countMeeting(
  snapshot: Snapshot,
  query: BoxQuery,
  geometries: GeometryCache,
  positions: readonly number[],
): Promise<number> {
  let count = 0
  for (const position of positions) {
    if (meets(await geometries.read(snapshot, position), query)) count++
  }
  return count
}

export function transformed(geometry: Geometry, transform: (position: Position) => Position): Geometry {
  const line = (positions: Position[]) => positions.map(transform)
  const lines = (all: Position[][]) => all.map(line)
  switch (geometry.type) {
    case 'Point':
      return {
        type: 'Point',
        coordinates: geometry.coordinates.length === 0 ? [] : transform(geometry.coordinates),
      }
    case 'MultiPoint':
    case 'LineString':
      return { type: geometry.type, coordinates: line(geometry.coordinates) }
    case 'Polygon':
    case 'MultiLineString':
      return { type: geometry.type, coordinates: lines(geometry.coordinates) }
    case 'MultiPolygon':
      return { type: 'MultiPolygon', coordinates: geometry.coordinates.map(lines) }
    case 'GeometryCollection':
      return {
        type: 'GeometryCollection',
        geometries: geometry.geometries.map((member) => transformed(member, transform)),
      }
  }
}

function eachPosition(geometry: Geometry, visit: (position: Position) => void): void {
  transformed(geometry, (position) => {
    visit(position)
    return position
  })
}
