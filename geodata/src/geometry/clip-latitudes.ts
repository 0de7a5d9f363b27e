import type { Geometry, Position } from '../feature.ts'

/**
 * Cuts a geometry in longitude and latitude at the parallels `max` and `-max`, for projections that cannot
 * represent the poles. Lines and rings get a position where they cross a parallel, and what lies beyond it is
 * moved onto it, so that the type and the parts of the geometry stay the same. A geometry within the parallels
 * is returned unchanged.
 */
export function clipLatitudes(geometry: Geometry, max: number): Geometry {
  switch (geometry.type) {
    case 'Point':
      return isWithin(geometry.coordinates, max)
        ? geometry
        : { ...geometry, coordinates: clamped(geometry.coordinates, max) }
    case 'MultiPoint':
      return { ...geometry, coordinates: geometry.coordinates.map((position) => clamped(position, max)) }
    case 'LineString':
      return { ...geometry, coordinates: clippedPath(geometry.coordinates, max) }
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: geometry.coordinates.map((path) => clippedPath(path, max)) }
    case 'MultiPolygon':
      return {
        ...geometry,
        coordinates: geometry.coordinates.map((rings) => rings.map((ring) => clippedPath(ring, max))),
      }
    case 'GeometryCollection':
      return { ...geometry, geometries: geometry.geometries.map((part) => clipLatitudes(part, max)) }
  }
}

/** An empty position is within: it has no latitude. */
function isWithin([, latitude]: Position, max: number): boolean {
  return latitude === undefined || Math.abs(latitude) <= max
}

function clamped(position: Position, max: number): Position {
  if (isWithin(position, max)) return position
  const [longitude, latitude, ...heights] = position as [number, number, ...number[]]
  return [longitude, Math.sign(latitude) * max, ...heights]
}

function clippedPath(path: Position[], max: number): Position[] {
  if (path.every((position) => isWithin(position, max))) return path
  const result: Position[] = []
  for (const [i, position] of path.entries()) {
    const previous = path[i - 1]
    if (previous) result.push(...crossings(previous, position, max))
    result.push(clamped(position, max))
  }
  return result
}

/** The positions at which the edge from `a` to `b` crosses the parallels, in the direction of the edge. */
function crossings(a: Position, b: Position, max: number): Position[] {
  const [from, to] = [a[1]!, b[1]!]
  const parallels = from < to ? [-max, max] : [max, -max]
  return parallels
    .filter((parallel) => (from - parallel) * (to - parallel) < 0)
    .map((parallel) => {
      const share = (parallel - from) / (to - from)
      return a.map((value, axis) => (axis === 1 ? parallel : value + (b[axis]! - value) * share))
    })
}
