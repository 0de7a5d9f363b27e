import { searchEdges } from './edge-tree.ts'
import { EXTERIOR, INTERIOR, locate } from './locate.ts'
import { orient2d } from './orient2d.ts'
import type { PreparedGeometry } from './prepared-geometry.ts'

const nearEdges: number[] = []

/**
 * Whether a box, including its sides, lies completely in the interior (INTERIOR) or completely outside
 * (EXTERIOR) of a geometry; null if it intersects an edge or a point of it.
 */
export function locateBox(
  geometry: PreparedGeometry,
  west: number,
  south: number,
  east: number,
  north: number,
): typeof INTERIOR | typeof EXTERIOR | null {
  if (geometry.isEmpty) return EXTERIOR
  if (west > geometry.east || east < geometry.west || south > geometry.north || north < geometry.south) {
    return EXTERIOR
  }
  for (const [x, y] of geometry.points.values()) {
    if (x! >= west && x! <= east && y! >= south && y! <= north) return null
  }
  const { edges } = geometry
  searchEdges(geometry.tree, edges, west, south, east, north, nearEdges)
  for (const edge of nearEdges) if (edgeMeets(edges, edge * 4, west, south, east, north)) return null
  // No edge intersects the box, so all of it has the same location as one of its corners.
  return locate(geometry, { x: west, y: south, exact: null }, { bits: 0 }) === INTERIOR ? INTERIOR : EXTERIOR
}

/** For overlapping bounding boxes: they intersect unless all corners are on one side of the edge. */
function edgeMeets(
  edges: Float64Array,
  at: number,
  west: number,
  south: number,
  east: number,
  north: number,
): boolean {
  const x0 = edges[at]!
  const y0 = edges[at + 1]!
  const x1 = edges[at + 2]!
  const y1 = edges[at + 3]!
  const side = Math.sign(orient2d(x0, y0, x1, y1, west, south))
  return (
    side === 0 ||
    side !== Math.sign(orient2d(x0, y0, x1, y1, east, south)) ||
    side !== Math.sign(orient2d(x0, y0, x1, y1, east, north)) ||
    side !== Math.sign(orient2d(x0, y0, x1, y1, west, north))
  )
}
