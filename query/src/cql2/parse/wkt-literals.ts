import type { Geometry, Position } from '@wayleave/geodata/geometry'
import type { Expression } from '../ast.ts'
import { checkedBounds, checkedGeometry } from './literals.ts'
import type { TokenReader } from './token-reader.ts'
import type { Token } from './tokens.ts'

const NAMES = new Set([
  'point',
  'multipoint',
  'linestring',
  'multilinestring',
  'polygon',
  'multipolygon',
  'geometrycollection',
])

/** Whether a word begins a geometry. A column may have such a name, so the following token decides. */
export function isGeometryName(word: string, following: Token): boolean {
  if (word === 'bbox') return following.text === '('
  if (!NAMES.has(word)) return false
  return following.text === '(' || (following.type === 'name' && /^(z|empty)$/i.test(following.text))
}

export function readGeometry(reader: TokenReader): Expression {
  const at = reader.place(reader.peek().at)
  if (reader.acceptWord('bbox')) {
    reader.takeSymbol('(')
    const bounds = between(reader, (inner) => inner.takeCoordinate())
    return reader.node({ kind: 'bbox', bounds: checkedBounds(bounds, at), at })
  }
  return reader.node({ kind: 'geometry', geometry: checkedGeometry(geometry(reader), at), at })
}

function geometry(reader: TokenReader): Geometry {
  const word = reader.next().text.toLowerCase()
  reader.acceptWord('z')
  switch (word) {
    case 'point': {
      const [position] = positions(reader)
      return { type: 'Point', coordinates: position ?? [] }
    }
    case 'multipoint':
      return { type: 'MultiPoint', coordinates: list(reader, pointOfMany) }
    case 'linestring':
      return { type: 'LineString', coordinates: positions(reader) }
    case 'multilinestring':
      return { type: 'MultiLineString', coordinates: list(reader, positions) }
    case 'polygon':
      return { type: 'Polygon', coordinates: list(reader, positions) }
    case 'multipolygon':
      return { type: 'MultiPolygon', coordinates: list(reader, (inner) => list(inner, positions)) }
    case 'geometrycollection':
      return { type: 'GeometryCollection', geometries: reader.nested(() => list(reader, member)) }
    default:
      throw reader.expected('a geometry')
  }
}

function member(reader: TokenReader): Geometry {
  const { text, type } = reader.peek()
  if (type !== 'name' || !NAMES.has(text.toLowerCase())) throw reader.expected('a geometry')
  return geometry(reader)
}

function positions(reader: TokenReader): Position[] {
  return list(reader, position)
}

/** The points of a multipoint may be in parentheses of their own or not. */
function pointOfMany(reader: TokenReader): Position {
  if (!reader.acceptSymbol('(')) return position(reader)
  const point = position(reader)
  reader.takeSymbol(')')
  return point
}

function position(reader: TokenReader): Position {
  reader.position()
  const coordinates = [reader.takeCoordinate(), reader.takeCoordinate()]
  const height = reader.acceptCoordinate()
  if (height !== null) coordinates.push(height)
  return coordinates
}

function list<T>(reader: TokenReader, item: (reader: TokenReader) => T): T[] {
  if (reader.acceptWord('empty')) return []
  reader.takeSymbol('(')
  return between(reader, item)
}

function between<T>(reader: TokenReader, item: (reader: TokenReader) => T): T[] {
  const items = [item(reader)]
  while (reader.acceptSymbol(',')) items.push(item(reader))
  if (!reader.acceptSymbol(')')) throw reader.expected('a comma or a closing parenthesis')
  return items
}
