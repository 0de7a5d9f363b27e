import { assertNever } from '@wayleave/geodata/base'
import { mapPositions, type Position } from '@wayleave/geodata/geometry'
import type { Bound, Expression } from './ast.ts'
import { boxGeometry } from './parse/literals.ts'

/**
 * Transforms the positions of a filter's geometries and boxes from the CRS in `filter-crs` to longitude and
 * latitude. A box becomes the area between its four transformed corners.
 */
export function mapGeometries(expression: Expression, move: (position: Position) => Position): Expression {
  const inside = (part: Expression) => mapGeometries(part, move)
  const bound = (end: Bound) => (end === null ? null : inside(end))
  switch (expression.kind) {
    case 'geometry':
      return { ...expression, geometry: mapPositions(expression.geometry, move) }
    case 'bbox':
      return {
        kind: 'geometry',
        geometry: mapPositions(boxGeometry(expression.bounds), move),
        at: expression.at,
      }
    case 'interval':
      return { ...expression, start: bound(expression.start), end: bound(expression.end) }
    case 'array':
      return { ...expression, items: expression.items.map(inside) }
    case 'call':
      return { ...expression, args: expression.args.map(inside) }
    case 'literal':
    case 'date':
    case 'timestamp':
    case 'property':
      return expression
    default:
      return assertNever(expression)
  }
}
