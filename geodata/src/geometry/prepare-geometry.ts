import type { Conversion, Geometry, Position } from '../feature.ts'
import { countConversion, countZeros, type GeometryChanges } from './geometry-changes.ts'

/** Transforms a position to WGS84 longitude and latitude. */
export type Transformer = (position: Position) => Position

/**
 * Coordinates outside the world by at most this many degrees are clamped: files that were rounded or clipped
 * generously, such as Natural Earth's, reach a little beyond the edge.
 */
const WORLD_TOLERANCE = 0.01
/** Up to this, about 0.1 m, it is floating-point noise from projections that is not worth reporting. */
const UNREPORTED_EXCESS = 1e-6

/** Deep enough for any real collection, but shallow enough that a malicious one cannot exhaust the stack. */
const MAX_COLLECTION_DEPTH = 32

class Problem extends Error {}

/**
 * Checks a geometry from a reader and prepares it for publishing: WGS84, inside the world, rings closed and
 * wound as RFC 7946 requires (outer counterclockwise, holes clockwise), positions of two or three finite
 * numbers. Returns the geometry (the same object, changed in place) or a sentence that says what is wrong
 * with it.
 *
 * Coordinates that are already WGS84 are kept exactly. Transformed ones are rounded to 9 decimals (0.1 mm),
 * because further digits are arithmetic noise that would only make the text longer.
 */
export function prepareGeometry(
  geometry: Geometry,
  transform: Transformer | null,
  changes?: GeometryChanges,
): Geometry | string {
  excess = 0
  conversion = null
  if (changes && geometry?.type === 'Point') countZeros(changes, geometry.coordinates)
  try {
    prepare(geometry, transform, 0)
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
  if (changes && excess > UNREPORTED_EXCESS) {
    changes.clamped++
    if (excess > changes.maxExcess) changes.maxExcess = excess
  }
  if (changes && conversion !== null) countConversion(changes, conversion)
  return geometry
}

/** What `prepare` found in the current geometry; variables, because it visits millions of positions. */
let excess = 0
let conversion: Conversion | null = null

function prepare(geometry: Geometry, transform: Transformer | null, depth: number): void {
  // Readers of self-describing formats pass on whatever the file contains, so check the structure here.
  if (geometry === null || typeof geometry !== 'object') throw new Problem('the geometry is not an object')
  if (geometry.converted !== undefined) conversion = geometry.converted
  if (geometry.type === 'GeometryCollection') {
    if (depth >= MAX_COLLECTION_DEPTH) throw new Problem(`collections are nested more than ${depth} deep`)
    for (const member of list(geometry.geometries, 'geometries')) prepare(member, transform, depth + 1)
    return
  }
  switch (geometry.type) {
    case 'Point':
      if (list(geometry.coordinates).length > 0)
        geometry.coordinates = position(geometry.coordinates, transform)
      break
    case 'MultiPoint':
      geometry.coordinates = withoutEmpty(geometry.coordinates)
      positions(geometry.coordinates, transform)
      break
    case 'LineString':
      line(geometry.coordinates, transform)
      break
    case 'MultiLineString':
      geometry.coordinates = withoutEmpty(geometry.coordinates)
      for (const member of geometry.coordinates) line(member, transform)
      break
    case 'Polygon':
      polygon(geometry.coordinates, transform)
      break
    case 'MultiPolygon':
      geometry.coordinates = withoutEmpty(geometry.coordinates)
      for (const member of geometry.coordinates) polygon(member, transform)
      break
    default:
      throw new Problem(`the geometry has the unknown type ${JSON.stringify((geometry as Geometry).type)}`)
  }
}

function list<T>(value: T[], name = 'coordinates'): T[] {
  if (!Array.isArray(value)) throw new Problem(`the geometry's ${name} are not an array`)
  return value
}

/** Removes empty members, which add nothing to a multi-geometry and which most formats cannot represent. */
function withoutEmpty<T extends unknown[]>(members: T[]): T[] {
  return list(members).some((member) => list(member).length === 0)
    ? members.filter((member) => member.length > 0)
    : members
}

function line(coordinates: Position[], transform: Transformer | null): void {
  if (list(coordinates).length === 1) throw new Problem('a line has one position; it needs two')
  positions(coordinates, transform)
}

function polygon(rings: Position[][], transform: Transformer | null): void {
  for (let i = 0; i < list(rings).length; i++) {
    const ring = list(rings[i]!)
    if (ring.length < 4) throw new Problem(`ring ${i + 1} has ${count(ring.length)}; it needs four`)
    const first = list(ring[0]!)
    const last = list(ring[ring.length - 1]!)
    if (first[0] !== last[0] || first[1] !== last[1])
      throw new Problem(`ring ${i + 1} is not closed: its last position is not its first`)
    positions(ring, transform)
    const area = signedArea(ring)
    if (i === 0 ? area < 0 : area > 0) ring.reverse()
  }
}

function count(positions: number): string {
  return positions === 1 ? '1 position' : `${positions} positions`
}

function positions(coordinates: Position[], transform: Transformer | null): void {
  list(coordinates)
  for (let i = 0; i < coordinates.length; i++) coordinates[i] = position(coordinates[i]!, transform)
}

function position(at: Position, transform: Transformer | null): Position {
  if (!Array.isArray(at) || at.length < 2) throw new Problem('a position needs two numbers')
  // A fourth number is a measure, or something that GeoJSON does not define.
  if (at.length > 3) at.length = 3
  for (let i = 0; i < at.length; i++) {
    if (typeof at[i] !== 'number') {
      if (typeof at[i] === 'bigint') at[i] = Number(at[i])
      else throw new Problem('a coordinate is not a number')
    }
    if (!Number.isFinite(at[i])) throw new Problem(`a coordinate is ${at[i]}`)
  }
  if (transform !== null) return toWgs84(at, transform)
  if (at[0]! < -180 || at[0]! > 180 || at[1]! < -90 || at[1]! > 90) clampToWorld(at, at)
  return at
}

/** Returns a new position, because readers may close a ring with the same array that opened it. */
function toWgs84(from: Position, transform: Transformer): Position {
  const to = transform(from)
  if (!Number.isFinite(to[0]) || !Number.isFinite(to[1]))
    throw new Problem(`the position ${from[0]}, ${from[1]} has no place in WGS84`)
  const at = [round(to[0]!), round(to[1]!)]
  // If the transformation does not return a height, keep the original one.
  if (from.length === 3) at.push(to.length > 2 && Number.isFinite(to[2]) ? round(to[2]!) : from[2]!)
  if (at[0]! < -180 || at[0]! > 180 || at[1]! < -90 || at[1]! > 90) clampToWorld(at, from)
  return at
}

function round(degrees: number): number {
  return Math.round(degrees * 1e9) / 1e9
}

function clampToWorld(at: Position, source: Position): void {
  at[0] = clamp(at[0]!, 180, 'longitude', source)
  at[1] = clamp(at[1]!, 90, 'latitude', source)
}

function clamp(value: number, limit: number, name: string, source: Position): number {
  if (Math.abs(value) <= limit) return value
  if (Math.abs(value) <= limit + WORLD_TOLERANCE) {
    excess = Math.max(excess, Math.abs(value) - limit)
    return Math.sign(value) * limit
  }
  // The usual cause is coordinates in metres or feet.
  const projected = Math.abs(source[0]!) > 1000 || Math.abs(source[1]!) > 1000
  const isExchanged = name === 'latitude' && Math.abs(value) <= 180 && Math.abs(source[0]!) <= 90
  const hint = projected
    ? ' (projected coordinates? Then name their CRS with --crs)'
    : isExchanged
      ? ' (latitude before longitude? Then exchange the two)'
      : ''
  throw new Problem(`${name} ${value} is outside ±${limit}${hint}`)
}

function signedArea(ring: Position[]): number {
  // Relative to the first position, because differences of close numbers keep their precision.
  const originX = ring[0]![0]!
  const originY = ring[0]![1]!
  let area = 0
  let x1 = 0
  let y1 = 0
  for (let i = 1; i < ring.length; i++) {
    const x2 = ring[i]![0]! - originX
    const y2 = ring[i]![1]! - originY
    area += x1 * y2 - x2 * y1
    x1 = x2
    y1 = y2
  }
  return area
}
