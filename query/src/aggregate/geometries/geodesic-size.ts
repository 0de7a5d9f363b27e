import type { Geometry, Position } from '@wayleave/geodata/geometry'
import geographiclib from 'geographiclib-geodesic'

const ELLIPSOID = geographiclib.Geodesic.WGS84

/** The area of polygons on the ellipsoid in m². Edges are geodesics; other geometries have none. */
export function geodesicArea(geometry: Geometry): number {
  switch (geometry.type) {
    case 'Polygon':
      return polygonArea(geometry.coordinates)
    case 'MultiPolygon':
      return sum(geometry.coordinates, polygonArea)
    case 'GeometryCollection':
      return sum(geometry.geometries, geodesicArea)
    case 'Point':
    case 'MultiPoint':
    case 'LineString':
    case 'MultiLineString':
      return 0
  }
}

/** The length of lines on the ellipsoid in m; other geometries have none. */
export function geodesicLength(geometry: Geometry): number {
  switch (geometry.type) {
    case 'LineString':
      return lineLength(geometry.coordinates)
    case 'MultiLineString':
      return sum(geometry.coordinates, lineLength)
    case 'GeometryCollection':
      return sum(geometry.geometries, geodesicLength)
    case 'Point':
    case 'MultiPoint':
    case 'Polygon':
    case 'MultiPolygon':
      return 0
  }
}

function sum<T>(parts: readonly T[], size: (part: T) => number): number {
  return parts.reduce((all, part) => all + size(part), 0)
}

function polygonArea([exterior, ...holes]: Position[][]): number {
  return exterior === undefined ? 0 : ringArea(exterior) - sum(holes, ringArea)
}

function ringArea(ring: Position[]): number {
  const polygon = ELLIPSOID.Polygon(false)
  // The library closes the ring itself.
  for (let i = 0; i < ring.length - 1; i++) polygon.AddPoint(ring[i]![1]!, ring[i]![0]!)
  return Math.abs(polygon.Compute(false, true).area!)
}

function lineLength(line: Position[]): number {
  if (line.length < 2) return 0
  const path = ELLIPSOID.Polygon(true)
  for (const [x, y] of line) path.AddPoint(y!, x!)
  return path.Compute(false, true).perimeter
}
