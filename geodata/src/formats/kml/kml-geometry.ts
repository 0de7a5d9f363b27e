import type { Geometry, GeometryType, Position } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { childOf, childrenOf, type KmlElement, textOf } from './kml-element.ts'

const GEOMETRIES = new Set([
  'Point',
  'LineString',
  'LinearRing',
  'Polygon',
  'MultiGeometry',
  // These are not in the standard, but some programs write them.
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
  'Track',
  'MultiTrack',
  'Model',
])

/** The elements that hold coordinates in KML and in GML. */
const COORDINATES = new Set(['coordinates', 'coord', 'pos', 'posList'])

/** The geometry among a placemark's children, or null; throws a SourceError that says what is wrong. */
export function readKmlGeometry(placemark: KmlElement): Geometry | null {
  const elements = placemark.children.filter(({ name }) => GEOMETRIES.has(name))
  if (elements.length === 1) return geometryOf(elements[0]!)
  // The standard allows one geometry, but a file that has several means them all.
  if (elements.length > 1) return joined(elements.map(geometryOf))
  const unknown = placemark.children.find(hasCoordinates)
  if (unknown) throw new SourceError(`the geometry is a ${unknown.name}, which is not known`)
  return null
}

function hasCoordinates({ name, children }: KmlElement): boolean {
  return (
    name !== 'ExtendedData' && children.some((child) => COORDINATES.has(child.name) || hasCoordinates(child))
  )
}

function geometryOf(element: KmlElement): Geometry {
  switch (element.name) {
    case 'Point':
      return { type: 'Point', coordinates: positionsOf(element)[0] ?? [] }
    case 'LineString':
    case 'LinearRing':
      return { type: 'LineString', coordinates: positionsOf(element) }
    case 'Polygon':
      return { type: 'Polygon', coordinates: ringsOf(element) }
    case 'Track':
      return { type: 'LineString', coordinates: trackOf(element) }
    case 'MultiTrack':
      return { type: 'MultiLineString', coordinates: childrenOf(element, 'Track').map(trackOf) }
    case 'MultiPoint':
      if (childOf(element, 'coordinates')) return { type: 'MultiPoint', coordinates: positionsOf(element) }
      return joined(membersOf(element).map(geometryOf))
    case 'MultiGeometry':
    case 'MultiLineString':
    case 'MultiPolygon':
    case 'GeometryCollection':
      return joined(membersOf(element).map(geometryOf))
    default:
      throw new SourceError('the geometry is a Model, which GeoJSON cannot express')
  }
}

/** The geometries inside a multiple one, also inside elements such as GML's `polygonMember`. */
function membersOf(element: KmlElement): KmlElement[] {
  return element.children.flatMap((child) => {
    if (GEOMETRIES.has(child.name)) return [child]
    if (/Members?$/.test(child.name)) return membersOf(child)
    if (COORDINATES.has(child.name) || hasCoordinates(child))
      throw new SourceError(`the geometry is a ${element.name} with ${child.name} inside, which is not known`)
    return []
  })
}

const MULTI: { [type in GeometryType]?: GeometryType } = {
  Point: 'MultiPoint',
  LineString: 'MultiLineString',
  Polygon: 'MultiPolygon',
}

/** Members of one type become a multi-geometry of that type; KML has no other way to express one. */
function joined(members: Geometry[]): Geometry {
  const type = members[0] && MULTI[members[0].type]
  if (!type || members.some((member) => member.type !== members[0]!.type))
    return { type: 'GeometryCollection', geometries: members }
  const coordinates = members.map((member) =>
    member.type === 'GeometryCollection' ? [] : member.coordinates,
  )
  return { type, coordinates } as Geometry
}

function ringsOf(polygon: KmlElement): Position[][] {
  const ring = (boundary: KmlElement) => {
    const linear = childOf(boundary, 'LinearRing')
    return linear ? positionsOf(linear) : []
  }
  const outer = childOf(polygon, 'outerBoundaryIs')
  if (!outer) return []
  // The standard requires one boundary per hole; some programs put all holes into one.
  const holes = childrenOf(polygon, 'innerBoundaryIs').flatMap((inner) =>
    childrenOf(inner, 'LinearRing').map(positionsOf),
  )
  return [ring(outer), ...holes]
}

/** `longitude,latitude[,height]`, separated by whitespace. Spaces after commas are not allowed but occur. */
function positionsOf(element: KmlElement): Position[] {
  const text = textOf(element, 'coordinates')
  if (text === null) return []
  return text
    .replace(/\s*,\s*/g, ',')
    .split(/\s+/)
    .map((tuple) => position(tuple, ','))
}

function trackOf(track: KmlElement): Position[] {
  return childrenOf(track, 'coord')
    .map(({ text }) => text.trim())
    .filter((text) => text !== '')
    .map((text) => position(text, /\s+/))
}

function position(tuple: string, separator: string | RegExp): Position {
  const parts = tuple.split(separator)
  if (parts.length > 2 && parts.at(-1) === '') parts.pop()
  const numbers = parts.slice(0, 3).map((part) => (part === '' ? Number.NaN : Number(part)))
  if (numbers.length < 2 || numbers.some(Number.isNaN))
    throw new SourceError(
      `the coordinates have ${JSON.stringify(tuple.slice(0, 40))}, which is not a position`,
    )
  return numbers
}
