import type { Geometry, Position } from '../feature.ts'
import type { Bbox } from './bbox.ts'
import { Outline } from './outline.ts'

/**
 * Whether a geometry and a box share a point, tested with the geometry itself and not with its bounding box.
 * Touching counts, a box may be a line or a point, and one whose west is greater than its east crosses the
 * antimeridian.
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
    case 'GeometryCollection':
      return geometry.geometries.some((member) => meets(member, box))
    case 'LineString':
    case 'MultiLineString':
    case 'Polygon':
    case 'MultiPolygon':
      for (const outline of outlinesOf(geometry)) if (outline.meets(box)) return true
      return false
  }
}

type Drawn = Extract<Geometry, { type: 'LineString' | 'MultiLineString' | 'Polygon' | 'MultiPolygon' }>

/** A cache keyed by geometry, because the same geometry is tested many times while it is in memory. */
const outlines = new WeakMap<Geometry, Outline[]>()

function outlinesOf(geometry: Drawn): Outline[] {
  let cached = outlines.get(geometry)
  if (!cached) {
    cached = draw(geometry)
    outlines.set(geometry, cached)
  }
  return cached
}

function draw(geometry: Drawn): Outline[] {
  switch (geometry.type) {
    case 'LineString':
      return [new Outline([geometry.coordinates], false)]
    case 'MultiLineString':
      return [new Outline(geometry.coordinates, false)]
    case 'Polygon':
      return [new Outline(geometry.coordinates, true)]
    case 'MultiPolygon':
      return geometry.coordinates.map((rings) => new Outline(rings, true))
  }
}

function holds(box: Bbox, position: Position): boolean {
  const x = position[0]!
  const y = position[1]!
  return x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3]
}
