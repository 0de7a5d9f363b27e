import type { Geometry, Position } from './documents.ts'

type Box = readonly number[]

/** Every position of a geometry. */
export function positionsOf(geometry: Geometry): Position[] {
  if (geometry.type === 'GeometryCollection') return geometry.geometries.flatMap(positionsOf)
  const flat: Position[] = []
  const walk = (part: unknown): void => {
    if (!Array.isArray(part)) return
    if (typeof part[0] === 'number') flat.push(part)
    else part.forEach(walk)
  }
  walk(geometry.coordinates)
  return flat
}

/**
 * Whether a geometry intersects a box, by the simplest possible code, because the service's own predicates
 * are under test. If west is greater than east, the box crosses the antimeridian.
 */
export function meetsBox(geometry: Geometry, [west, south, east, north]: Box): boolean {
  const boxes =
    west! > east!
      ? [
          [west!, south!, 180, north!],
          [-180, south!, east!, north!],
        ]
      : [[west!, south!, east!, north!]]
  return boxes.some((box) => meets(geometry, box))
}

function meets(geometry: Geometry, box: Box): boolean {
  switch (geometry.type) {
    case 'GeometryCollection':
      return geometry.geometries.some((part) => meets(part, box))
    case 'Point':
      return isIn(geometry.coordinates, box)
    case 'MultiPoint':
      return geometry.coordinates.some((position) => isIn(position, box))
    case 'LineString':
      return lineMeets(geometry.coordinates, box)
    case 'MultiLineString':
      return geometry.coordinates.some((line) => lineMeets(line, box))
    case 'Polygon':
      return polygonMeets(geometry.coordinates, box)
    case 'MultiPolygon':
      return geometry.coordinates.some((polygon) => polygonMeets(polygon, box))
  }
}

function isIn([x, y]: Position, [west, south, east, north]: Box): boolean {
  return x! >= west! && x! <= east! && y! >= south! && y! <= north!
}

function lineMeets(line: Position[], box: Box): boolean {
  return line.some((to, i) => i > 0 && segmentMeets(line[i - 1]!, to, box))
}

/** A box that no edge intersects is completely inside or outside a polygon, so one corner is enough. */
function polygonMeets(rings: Position[][], box: Box): boolean {
  if (rings.some((ring) => lineMeets(ring, box))) return true
  return rings.filter((ring) => isInside([box[0]!, box[1]!], ring)).length % 2 === 1
}

/** Clips the segment at the four sides of the box in turn, and checks whether anything is left. */
function segmentMeets([x0, y0]: Position, [x1, y1]: Position, [west, south, east, north]: Box): boolean {
  let from = 0
  let to = 1
  const cut = (step: number, room: number): boolean => {
    if (step === 0) return room >= 0
    if (step < 0) from = Math.max(from, room / step)
    else to = Math.min(to, room / step)
    return from <= to
  }
  const dx = x1! - x0!
  const dy = y1! - y0!
  return cut(-dx, x0! - west!) && cut(dx, east! - x0!) && cut(-dy, y0! - south!) && cut(dy, north! - y0!)
}

function isInside([x, y]: Position, ring: Position[]): boolean {
  let inside = false
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay] = ring[i - 1]!
    const [bx, by] = ring[i]!
    if (ay! > y! !== by! > y! && x! < ((bx! - ax!) * (y! - ay!)) / (by! - ay!) + ax!) inside = !inside
  }
  return inside
}
