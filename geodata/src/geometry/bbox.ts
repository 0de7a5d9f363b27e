import { assertNever } from '../assert-never.ts'
import type { Geometry, Position } from '../feature.ts'

/** West, south, east, north in degrees. In a query, west > east crosses the antimeridian. */
export type Bbox = [west: number, south: number, east: number, north: number]

export function emptyBbox(): Bbox {
  return [Infinity, Infinity, -Infinity, -Infinity]
}

export function isEmptyBbox(bbox: Bbox): boolean {
  return bbox[0] > bbox[2]
}

/** Extends `into` by the geometry's positions; an empty geometry does not change it. */
function extendBbox(into: Bbox, geometry: Geometry): void {
  switch (geometry.type) {
    case 'Point':
      if (geometry.coordinates.length > 0) extendByPosition(into, geometry.coordinates)
      return
    case 'MultiPoint':
    case 'LineString':
      extendByLine(into, geometry.coordinates)
      return
    case 'Polygon':
    case 'MultiLineString':
      for (const line of geometry.coordinates) extendByLine(into, line)
      return
    case 'MultiPolygon':
      for (const rings of geometry.coordinates) for (const ring of rings) extendByLine(into, ring)
      return
    case 'GeometryCollection':
      for (const member of geometry.geometries) extendBbox(into, member)
      return
    default:
      assertNever(geometry)
  }
}

/**
 * Rounds a box outward to seven decimals (about a centimetre). The result contains the original box, and
 * stays inside the world if the original does.
 */
export function roundOutward(bbox: Bbox): Bbox {
  return bbox.map((value, side) => {
    const rounded = (side < 2 ? Math.floor : Math.ceil)(value * 1e7) / 1e7
    const isOutward = side < 2 ? rounded <= value : rounded >= value
    const limit = side % 2 === 0 ? 180 : 90
    return isOutward && (Math.abs(rounded) <= limit || Math.abs(value) > limit) ? rounded : value
  }) as Bbox
}

/** The geometry's bounding box; empty (`isEmptyBbox`) if it has no positions. */
export function geometryBbox(geometry: Geometry): Bbox {
  const bbox = emptyBbox()
  extendBbox(bbox, geometry)
  return bbox
}

function extendByLine(into: Bbox, positions: Position[]): void {
  for (const position of positions) if (position.length > 0) extendByPosition(into, position)
}

function extendByPosition(into: Bbox, position: Position): void {
  const x = position[0]!
  const y = position[1]!
  if (x < into[0]) into[0] = x
  if (y < into[1]) into[1] = y
  if (x > into[2]) into[2] = x
  if (y > into[3]) into[3] = y
}
