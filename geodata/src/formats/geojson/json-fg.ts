import type { Geometry, Position, Value } from '../../feature.ts'
import { joinParts, linearizeArcs } from '../../geometry/arcs.ts'
import { SourceError } from '../../source-error.ts'

/**
 * JSON-FG (OGC 21-045): features whose `geometry` is null because their `place` is in another CRS or is of a
 * type that GeoJSON does not have, and features with a `time`.
 */

/** How the places of a file are read: their coordinates may be in the axis order of the authority. */
export interface PlaceReading {
  northingFirst: boolean
}

/** The name of a CRS in a `coordRefSys`: an address, a safe CURIE, an object, or a list for a compound CRS. */
export function coordRefSysName(member: unknown, file: string): string {
  if (member === undefined || member === null) return 'OGC:CRS84'
  const first = Array.isArray(member) ? member[0] : member
  const name = typeof first === 'object' ? (first as { href?: unknown } | null)?.href : first
  if (typeof name === 'string') return name.replace(/^\[(.*)\]$/, '$1')
  throw new SourceError(`${file} has a "coordRefSys" that does not name its CRS. Name it with --crs.`)
}

/** The types of geometry that JSON-FG adds, if they can be read. */
export const PLACE_TYPES: ReadonlySet<unknown> = new Set([
  ...['CircularString', 'CompoundCurve', 'CurvePolygon', 'MultiCurve', 'MultiSurface'],
  ...['Polyhedron', 'MultiPolyhedron'],
])

interface RawPlace {
  type?: unknown
  coordinates?: unknown
  geometries?: unknown
}

/** Reads a place; throws a SourceError that says what is wrong. */
export function readPlace(place: object, { northingFirst }: PlaceReading): Geometry {
  const geometry = convert(place as RawPlace)
  // A curve type may consist of straight lines only.
  if (geometry.converted === 'curves' && !hasArcs(place as RawPlace)) delete geometry.converted
  if (northingFirst) swapAxes(geometry)
  return geometry
}

function convert(place: RawPlace): Geometry {
  switch (place.type) {
    case 'CircularString':
    case 'CompoundCurve':
      return { type: 'LineString', coordinates: curve(place), converted: 'curves' }
    case 'CurvePolygon':
      return { type: 'Polygon', coordinates: members(place).map(curve), converted: 'curves' }
    case 'MultiCurve':
      return { type: 'MultiLineString', coordinates: members(place).map(curve), converted: 'curves' }
    case 'MultiSurface':
      return { type: 'MultiPolygon', coordinates: members(place).map(surface), converted: 'curves' }
    // A list of shells, the outer one first; a shell is a list of faces.
    case 'Polyhedron':
      return {
        type: 'MultiPolygon',
        coordinates: list(place.coordinates).flat() as Position[][][],
        converted: 'surfaces',
      }
    case 'MultiPolyhedron':
      return {
        type: 'MultiPolygon',
        coordinates: list(place.coordinates).flat(2) as Position[][][],
        converted: 'surfaces',
      }
    default:
      return place as Geometry
  }
}

function hasArcs({ type, geometries }: RawPlace): boolean {
  return type === 'CircularString' || (Array.isArray(geometries) && geometries.some(hasArcs))
}

function curve(place: RawPlace): Position[] {
  if (place.type === 'CompoundCurve') return joinParts(members(place).map(curve))
  const positions = list(place.coordinates) as Position[]
  return place.type === 'CircularString' ? linearizeArcs(positions) : positions
}

function surface(place: RawPlace): Position[][] {
  return place.type === 'CurvePolygon' ? members(place).map(curve) : (list(place.coordinates) as Position[][])
}

function members(place: RawPlace): RawPlace[] {
  return list(place.geometries) as RawPlace[]
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new SourceError('the place has no list of coordinates or geometries')
  return value
}

function swapAxes(geometry: Geometry): void {
  if (geometry.type === 'GeometryCollection') {
    for (const member of geometry.geometries) swapAxes(member)
    return
  }
  const swapped = new Set<unknown>()
  swap(geometry.coordinates, swapped)
}

/** The first and last position of a ring may be the same array, which must be swapped once. */
function swap(coordinates: unknown, swapped: Set<unknown>): void {
  if (!Array.isArray(coordinates) || swapped.has(coordinates)) return
  swapped.add(coordinates)
  if (typeof coordinates[0] !== 'number') for (const inner of coordinates) swap(inner, swapped)
  else [coordinates[0], coordinates[1]] = [coordinates[1], coordinates[0]]
}

/** The columns that a `time` becomes: an instant, or the start and end of an interval. */
export function readTime(time: unknown): [column: string, value: Value][] {
  if (time === null || typeof time !== 'object') return []
  const { date, timestamp, interval } = time as { date?: Value; timestamp?: Value; interval?: unknown }
  const instant = timestamp ?? date
  const columns: [string, Value][] = instant === undefined ? [] : [['time', instant]]
  if (!Array.isArray(interval)) return columns
  for (const [i, column] of ['time_start', 'time_end'].entries()) {
    const end = interval[i]
    // Two dots are an open end.
    if (typeof end === 'string' && end !== '..') columns.push([column, end])
  }
  return columns
}
