import type { Geometry, Position } from '../feature.ts'

/** A copy of the geometry with each position mapped; an empty point stays empty. */
export function mapPositions(geometry: Geometry, move: (position: Position) => Position): Geometry {
  const line = (positions: Position[]) => positions.map(move)
  const lines = (all: Position[][]) => all.map(line)
  switch (geometry.type) {
    case 'Point':
      return {
        type: 'Point',
        coordinates: geometry.coordinates.length === 0 ? [] : move(geometry.coordinates),
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
        geometries: geometry.geometries.map((member) => mapPositions(member, move)),
      }
  }
}
