import type { Geometry, Position } from '@wayleave/geodata/feature.ts'
import type { Bound, Expression } from './ast.ts'
import { boxGeometry } from './literals.ts'

/**
 * The filter with the positions of its geometries and boxes moved: from the CRS that `filter-crs` names to
 * longitude and latitude. A box becomes the area between its four moved corners.
 */
export function mapGeometries(expression: Expression, move: (position: Position) => Position): Expression {
  const inside = (part: Expression) => mapGeometries(part, move)
  const bound = (end: Bound) => (end === null ? null : inside(end))
  switch (expression.kind) {
    case 'geometry':
      return { ...expression, geometry: moved(expression.geometry, move) }
    case 'bbox':
      return { kind: 'geometry', geometry: moved(boxGeometry(expression.bounds), move), at: expression.at }
    case 'interval':
      return { ...expression, start: bound(expression.start), end: bound(expression.end) }
    case 'array':
      return { ...expression, items: expression.items.map(inside) }
    case 'call':
      return { ...expression, args: expression.args.map(inside) }
    default:
      return expression
  }
}

function moved(geometry: Geometry, move: (position: Position) => Position): Geometry {
  const line = (positions: Position[]) => positions.map(move)
  switch (geometry.type) {
    case 'Point':
      return geometry.coordinates.length === 0
        ? geometry
        : { type: 'Point', coordinates: move(geometry.coordinates) }
    case 'MultiPoint':
      return { type: 'MultiPoint', coordinates: line(geometry.coordinates) }
    case 'LineString':
      return { type: 'LineString', coordinates: line(geometry.coordinates) }
    case 'MultiLineString':
      return { type: 'MultiLineString', coordinates: geometry.coordinates.map(line) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: geometry.coordinates.map(line) }
    case 'MultiPolygon':
      return { type: 'MultiPolygon', coordinates: geometry.coordinates.map((rings) => rings.map(line)) }
    case 'GeometryCollection':
      return {
        type: 'GeometryCollection',
        geometries: geometry.geometries.map((member) => moved(member, move)),
      }
  }
}
