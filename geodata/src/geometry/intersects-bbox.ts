import type { Geometry, Position } from '../feature.ts'
import { orient2d } from '../predicates/orient2d.ts'
import type { Bbox } from './bbox.ts'

/**
 * Whether a geometry and a box share a point, by the geometry itself and not its own box. Touching counts, a
 * box may be a line or a point, and one whose west is greater than its east crosses the antimeridian.
 */
export function intersectsBbox(geometry: Geometry, bbox: Bbox): boolean {
  const [west, south, east, north] = bbox
  if (west <= east) return meets(geometry, bbox)
  return meets(geometry, [west, south, 180, north]) || meets(geometry, [-180, south, east, north])
}

function meets(geometry: Geometry, box: Bbox): boolean {
  switch (geometry.type) {
    case 'Point':
      return geometry.coordinates.length > 0 && holds(box, geometry.coordinates)
    case 'MultiPoint':
      return geometry.coordinates.some((point) => point.length > 0 && holds(box, point))
    case 'LineString':
      return lineMeets(geometry.coordinates, box)
    case 'MultiLineString':
      return geometry.coordinates.some((line) => lineMeets(line, box))
    case 'Polygon':
      return polygonMeets(geometry.coordinates, box)
    case 'MultiPolygon':
      return geometry.coordinates.some((rings) => polygonMeets(rings, box))
    case 'GeometryCollection':
      return geometry.geometries.some((member) => meets(member, box))
  }
}

function holds(box: Bbox, position: Position): boolean {
  const x = position[0]!
  const y = position[1]!
  return x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3]
}

function lineMeets(line: Position[], box: Bbox): boolean {
  if (line.length === 1) return holds(box, line[0]!)
  for (let i = 1; i < line.length; i++) if (segmentMeets(line[i - 1]!, line[i]!, box)) return true
  return false
}

/** Where their extents overlap, they meet unless all corners of the box lie on one side of the segment. */
function segmentMeets(a: Position, b: Position, box: Bbox): boolean {
  const ax = a[0]!
  const ay = a[1]!
  const bx = b[0]!
  const by = b[1]!
  const west = box[0]
  const south = box[1]
  const east = box[2]
  const north = box[3]
  if ((ax < west && bx < west) || (ax > east && bx > east)) return false
  if ((ay < south && by < south) || (ay > north && by > north)) return false
  if (ax >= west && ax <= east && ay >= south && ay <= north) return true
  if (bx >= west && bx <= east && by >= south && by <= north) return true
  const southWest = Math.sign(orient2d(ax, ay, bx, by, west, south))
  return (
    southWest === 0 ||
    southWest !== Math.sign(orient2d(ax, ay, bx, by, east, south)) ||
    southWest !== Math.sign(orient2d(ax, ay, bx, by, east, north)) ||
    southWest !== Math.sign(orient2d(ax, ay, bx, by, west, north))
  )
}

/** Where no edge meets the box, the box lies wholly inside or outside: one of its corners tells which. */
function polygonMeets(rings: Position[][], box: Bbox): boolean {
  return rings.some((ring) => lineMeets(ring, box)) || insideRings(box[0], box[1], rings)
}

/** By counting the edges that a ray to the east crosses, over all rings: a hole turns inside to outside. */
function insideRings(x: number, y: number, rings: Position[][]): boolean {
  let inside = false
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const a = ring[i - 1]!
      const b = ring[i]!
      const ay = a[1]!
      const by = b[1]!
      if (ay > y === by > y) continue
      const side = orient2d(a[0]!, ay, b[0]!, by, x, y)
      if (by > ay ? side > 0 : side < 0) inside = !inside
    }
  }
  return inside
}
