import type { Geometry, Position } from '@wayleave/geodata/geometry'
import { ARITHMETIC, type Bound, COMPARISONS, type Expression } from '../ast.ts'

const INFIX: ReadonlySet<string> = new Set<string>([...COMPARISONS, ...ARITHMETIC])

/** Prints CQL2 text, with parentheses around every operation that might need them. */
export function printText(expression: Expression): string {
  switch (expression.kind) {
    case 'literal':
      return typeof expression.value === 'string'
        ? quoted(expression.value)
        : String(expression.value).toUpperCase()
    case 'date':
      return `DATE('${expression.value}')`
    case 'timestamp':
      return `TIMESTAMP('${expression.value}Z')`
    case 'interval':
      return `INTERVAL(${textBound(expression.start)}, ${textBound(expression.end)})`
    case 'geometry':
      return wkt(expression.geometry)
    case 'bbox':
      return `BBOX(${expression.bounds.map(coordinate).join(', ')})`
    case 'array':
      return `(${expression.items.map(printText).join(', ')})`
    case 'property':
      return `"${expression.name.replaceAll('"', '""')}"`
    case 'call':
      return printCall(expression.op, expression.args)
  }
}

function printCall(op: string, args: Expression[]): string {
  const parts = args.map((arg) => (isInfix(arg) ? `(${printText(arg)})` : printText(arg)))
  if (op === 'and' || op === 'or') return parts.join(` ${op.toUpperCase()} `)
  if (op === 'not') return `NOT ${parts[0]}`
  if (op === 'isNull') return `${parts[0]} IS NULL`
  if (op === 'between') return `${parts[0]} BETWEEN ${parts[1]} AND ${parts[2]}`
  if (op === 'like' || op === 'in' || INFIX.has(op)) return parts.join(` ${op.toUpperCase()} `)
  return `${op.toUpperCase()}(${args.map(printText).join(', ')})`
}

function isInfix(expression: Expression): boolean {
  return expression.kind === 'call' && !/^([sta]_|casei|accenti)/.test(expression.op)
}

function textBound(bound: Bound): string {
  return bound === null ? "'..'" : printText(bound)
}

// CQL2 text cannot express a single backslash before a quote or at the end, because it escapes the quote.
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

export function wkt(geometry: Geometry): string {
  switch (geometry.type) {
    case 'Point':
      return geometry.coordinates.length === 0
        ? 'POINT EMPTY'
        : `POINT${group([geometry.coordinates], position)}`
    case 'MultiPoint':
      return `MULTIPOINT${group(geometry.coordinates, (point) => `(${position(point)})`)}`
    case 'LineString':
      return `LINESTRING${line(geometry.coordinates)}`
    case 'MultiLineString':
      return `MULTILINESTRING${group(geometry.coordinates, line)}`
    case 'Polygon':
      return `POLYGON${group(geometry.coordinates, line)}`
    case 'MultiPolygon':
      return `MULTIPOLYGON${group(geometry.coordinates, (rings) => group(rings, line))}`
    case 'GeometryCollection':
      return `GEOMETRYCOLLECTION${group(geometry.geometries, wkt)}`
  }
}

function group<T>(items: T[], print: (item: T) => string): string {
  return items.length === 0 ? ' EMPTY' : `(${items.map(print).join(', ')})`
}

function line(positions: Position[]): string {
  return group(positions, position)
}

function position(coordinates: Position): string {
  return coordinates.map(coordinate).join(' ')
}

function coordinate(value: number): string {
  return String(value).toUpperCase()
}
