import type { Geometry, Position } from '../feature.ts'
import { SourceError } from '../source-error.ts'
import { joinParts, linearizeArcs } from './arcs.ts'

/**
 * Well-known binary: ISO 13249-3 and GeoPackage (types +1000 for Z, +2000 for M) and PostGIS's EWKB (flags in
 * the high bits, an SRID after the type). All of them can be read; little-endian ISO is written.
 */

const POINT = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE_STRING = 5
const MULTI_POLYGON = 6
const GEOMETRY_COLLECTION = 7

const TYPE_CODES: { [type in Geometry['type']]: number } = {
  Point: POINT,
  LineString: LINE_STRING,
  Polygon: POLYGON,
  MultiPoint: MULTI_POINT,
  MultiLineString: MULTI_LINE_STRING,
  MultiPolygon: MULTI_POLYGON,
  GeometryCollection: GEOMETRY_COLLECTION,
}

/** Types that GeoJSON does not have. Their curves become lines, and their faces polygons. */
const CIRCULAR_STRING = 8
const COMPOUND_CURVE = 9
const CURVE_POLYGON = 10
const MULTI_CURVE = 11
const MULTI_SURFACE = 12
const POLYHEDRAL_SURFACE = 15
const TIN = 16
const TRIANGLE = 17

const EWKB_Z = 0x80000000
const EWKB_M = 0x40000000
const EWKB_SRID = 0x20000000
const EWKB_FLAGS = 0xe0000000

/** Deep enough for any real collection, but shallow enough that a malicious one cannot exhaust the stack. */
const MAX_DEPTH = 64

/** Reads the geometry that starts at `offset`; throws a SourceError that says what is wrong. */
export function readWkb(bytes: Uint8Array, offset = 0): Geometry {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return new WkbReader(view, offset).geometry(0)
}

/** The SRID of an EWKB geometry, or null. */
export function wkbSrid(bytes: Uint8Array): number | null {
  if (bytes.byteLength < 9) return null
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const littleEndian = view.getUint8(0) === 1
  return view.getUint32(1, littleEndian) & EWKB_SRID ? view.getUint32(5, littleEndian) : null
}

class WkbReader {
  readonly #view: DataView
  #offset: number
  #littleEndian = true
  #hasZ = false
  /** The size of one position in bytes, including M, which is skipped. */
  #stride = 16
  #hasArcs = false

  constructor(view: DataView, offset: number) {
    this.#view = view
    this.#offset = offset
  }

  geometry(depth: number): Geometry {
    if (depth > MAX_DEPTH) throw new SourceError(`the geometry is nested more than ${MAX_DEPTH} deep`)
    const type = this.#header()
    switch (type) {
      case POINT:
        return { type: 'Point', coordinates: this.#point() }
      case LINE_STRING:
        return { type: 'LineString', coordinates: this.#positions() }
      case POLYGON:
        return { type: 'Polygon', coordinates: this.#rings() }
      case MULTI_POINT:
        return { type: 'MultiPoint', coordinates: this.#members(POINT, () => this.#point()) }
      case MULTI_LINE_STRING:
        return { type: 'MultiLineString', coordinates: this.#members(LINE_STRING, () => this.#positions()) }
      case MULTI_POLYGON:
        return { type: 'MultiPolygon', coordinates: this.#members(POLYGON, () => this.#rings()) }
      case GEOMETRY_COLLECTION: {
        const count = this.#count(5)
        const geometries: Geometry[] = []
        for (let i = 0; i < count; i++) geometries.push(this.geometry(depth + 1))
        return { type: 'GeometryCollection', geometries }
      }
      case CIRCULAR_STRING:
      case COMPOUND_CURVE:
        return this.#converted({ type: 'LineString', coordinates: this.#curve(type, depth) })
      case CURVE_POLYGON:
        return this.#converted({ type: 'Polygon', coordinates: this.#curves(depth) })
      case MULTI_CURVE:
        return this.#converted({ type: 'MultiLineString', coordinates: this.#curves(depth) })
      case MULTI_SURFACE:
        return this.#converted({ type: 'MultiPolygon', coordinates: this.#surfaces(depth) })
      case POLYHEDRAL_SURFACE:
      case TIN:
        return { type: 'MultiPolygon', coordinates: this.#surfaces(depth), converted: 'surfaces' }
      case TRIANGLE:
        return { type: 'Polygon', coordinates: this.#rings(), converted: 'surfaces' }
      default:
        throw unknownType(type)
    }
  }

  /** A curve type may consist of straight lines only, which are kept as they are. */
  #converted(geometry: Geometry): Geometry {
    if (this.#hasArcs) geometry.converted = 'curves'
    return geometry
  }

  #curve(type: number, depth: number): Position[] {
    if (depth > MAX_DEPTH) throw new SourceError(`the geometry is nested more than ${MAX_DEPTH} deep`)
    if (type === LINE_STRING) return this.#positions()
    if (type === COMPOUND_CURVE) return joinParts(this.#curves(depth))
    if (type !== CIRCULAR_STRING) throw unknownType(type)
    this.#hasArcs = true
    return linearizeArcs(this.#positions())
  }

  #curves(depth: number): Position[][] {
    const count = this.#count(9)
    const curves: Position[][] = []
    for (let i = 0; i < count; i++) curves.push(this.#curve(this.#header(), depth + 1))
    return curves
  }

  #surfaces(depth: number): Position[][][] {
    const count = this.#count(9)
    const surfaces: Position[][][] = []
    for (let i = 0; i < count; i++) {
      const type = this.#header()
      if (type !== POLYGON && type !== TRIANGLE && type !== CURVE_POLYGON) throw unknownType(type)
      surfaces.push(type === CURVE_POLYGON ? this.#curves(depth) : this.#rings())
    }
    return surfaces
  }

  #header(): number {
    this.#need(5)
    const order = this.#view.getUint8(this.#offset)
    if (order > 1) throw new SourceError(`the geometry is not WKB: its byte order is ${order}`)
    this.#littleEndian = order === 1
    const code = this.#view.getUint32(this.#offset + 1, this.#littleEndian)
    this.#offset += 5
    if (code & EWKB_SRID) {
      this.#need(4)
      this.#offset += 4
    }
    const iso = (code & ~EWKB_FLAGS) >>> 0
    const dimensions = Math.floor(iso / 1000)
    if (dimensions > 3) throw new SourceError(`the geometry has the unknown WKB type ${iso}`)
    const hasM = (code & EWKB_M) !== 0 || dimensions >= 2
    this.#hasZ = (code & EWKB_Z) !== 0 || dimensions === 1 || dimensions === 3
    this.#stride = 16 + (this.#hasZ ? 8 : 0) + (hasM ? 8 : 0)
    return iso % 1000
  }

  #need(bytes: number): void {
    if (this.#offset + bytes > this.#view.byteLength) throw new SourceError('the geometry ends too early')
  }

  /** Checks a count against the remaining bytes, so that a false count does not allocate memory. */
  #count(leastBytesEach: number): number {
    this.#need(4)
    const count = this.#view.getUint32(this.#offset, this.#littleEndian)
    this.#offset += 4
    this.#need(count * leastBytesEach)
    return count
  }

  #position(): Position {
    const at = this.#offset
    const x = this.#view.getFloat64(at, this.#littleEndian)
    const y = this.#view.getFloat64(at + 8, this.#littleEndian)
    this.#offset = at + this.#stride
    return this.#hasZ ? [x, y, this.#view.getFloat64(at + 16, this.#littleEndian)] : [x, y]
  }

  #point(): Position {
    this.#need(this.#stride)
    const position = this.#position()
    // This is how WKB represents POINT EMPTY.
    return Number.isNaN(position[0]) && Number.isNaN(position[1]) ? [] : position
  }

  #positions(): Position[] {
    const count = this.#count(this.#stride)
    const positions: Position[] = new Array(count)
    for (let i = 0; i < count; i++) positions[i] = this.#position()
    return positions
  }

  #rings(): Position[][] {
    const count = this.#count(4)
    const rings: Position[][] = []
    for (let i = 0; i < count; i++) rings.push(this.#positions())
    return rings
  }

  #members<T>(expected: number, read: () => T): T[] {
    const count = this.#count(9)
    const members: T[] = []
    for (let i = 0; i < count; i++) {
      const type = this.#header()
      if (type !== expected)
        throw new SourceError(`the geometry contains WKB type ${type} where only ${expected} is allowed`)
      members.push(read())
    }
    return members
  }
}

function unknownType(type: number): SourceError {
  return new SourceError(`the geometry has the unknown WKB type ${type}`)
}

/** Whether any position has a height, because WKB has one dimension for the whole geometry. */
export function hasZ(geometry: Geometry): boolean {
  return geometry.type === 'GeometryCollection'
    ? geometry.geometries.some(hasZ)
    : anyPositionHasZ(geometry.coordinates)
}

type Coordinates = Position | Position[] | Position[][] | Position[][][]

function anyPositionHasZ(coordinates: Coordinates): boolean {
  if (coordinates.length === 0) return false
  if (typeof coordinates[0] === 'number') return coordinates.length > 2
  for (const inner of coordinates as Position[][]) if (anyPositionHasZ(inner)) return true
  return false
}

/** The number of bytes that `writeWkbInto` will write. */
export function wkbSize(geometry: Geometry, withZ = hasZ(geometry)): number {
  const stride = withZ ? 24 : 16
  const line = (positions: Position[]) => 4 + positions.length * stride
  const polygon = (rings: Position[][]) => rings.reduce((size, ring) => size + line(ring), 4)
  switch (geometry.type) {
    case 'Point':
      return 5 + stride
    case 'LineString':
      return 5 + line(geometry.coordinates)
    case 'Polygon':
      return 5 + polygon(geometry.coordinates)
    case 'MultiPoint':
      return 9 + geometry.coordinates.length * (5 + stride)
    case 'MultiLineString':
      return geometry.coordinates.reduce((size, member) => size + 5 + line(member), 9)
    case 'MultiPolygon':
      return geometry.coordinates.reduce((size, member) => size + 5 + polygon(member), 9)
    case 'GeometryCollection':
      return geometry.geometries.reduce((size, member) => size + wkbSize(member, withZ), 9)
  }
}

export function writeWkb(geometry: Geometry): Buffer<ArrayBuffer> {
  const withZ = hasZ(geometry)
  const bytes = new ArrayBuffer(wkbSize(geometry, withZ))
  writeWkbInto(geometry, new DataView(bytes), 0, withZ)
  return Buffer.from(bytes)
}

/**
 * Writes at `offset` and returns the offset after the last byte. With heights, a position without one gets 0.
 * The caller must provide room for `wkbSize(geometry)` bytes.
 */
export function writeWkbInto(
  geometry: Geometry,
  view: DataView,
  offset: number,
  withZ = hasZ(geometry),
): number {
  switch (geometry.type) {
    case 'Point':
      return writePoint(view, offset, geometry.coordinates, withZ)
    case 'LineString':
      return writePositions(view, writeHeader(view, offset, LINE_STRING, withZ), geometry.coordinates, withZ)
    case 'Polygon':
      return writePolygon(view, offset, geometry.coordinates, withZ)
    case 'GeometryCollection': {
      let at = writeHeader(view, offset, GEOMETRY_COLLECTION, withZ)
      view.setUint32(at, geometry.geometries.length, true)
      at += 4
      for (const member of geometry.geometries) at = writeWkbInto(member, view, at, withZ)
      return at
    }
    case 'MultiPoint':
    case 'MultiLineString':
    case 'MultiPolygon': {
      let at = writeHeader(view, offset, TYPE_CODES[geometry.type], withZ)
      view.setUint32(at, geometry.coordinates.length, true)
      at += 4
      if (geometry.type === 'MultiPoint') {
        for (const point of geometry.coordinates) at = writePoint(view, at, point, withZ)
      } else if (geometry.type === 'MultiLineString') {
        for (const line of geometry.coordinates)
          at = writePositions(view, writeHeader(view, at, LINE_STRING, withZ), line, withZ)
      } else {
        for (const rings of geometry.coordinates) at = writePolygon(view, at, rings, withZ)
      }
      return at
    }
  }
}

function writeHeader(view: DataView, offset: number, type: number, withZ: boolean): number {
  view.setUint8(offset, 1)
  view.setUint32(offset + 1, withZ ? type + 1000 : type, true)
  return offset + 5
}

function writePosition(view: DataView, offset: number, position: Position, withZ: boolean): number {
  view.setFloat64(offset, position[0]!, true)
  view.setFloat64(offset + 8, position[1]!, true)
  if (!withZ) return offset + 16
  view.setFloat64(offset + 16, position[2] ?? 0, true)
  return offset + 24
}

function writePoint(view: DataView, offset: number, position: Position, withZ: boolean): number {
  const at = writeHeader(view, offset, POINT, withZ)
  return writePosition(view, at, position.length === 0 ? [NaN, NaN, NaN] : position, withZ)
}

function writePositions(view: DataView, offset: number, positions: Position[], withZ: boolean): number {
  view.setUint32(offset, positions.length, true)
  let at = offset + 4
  for (const position of positions) at = writePosition(view, at, position, withZ)
  return at
}

function writePolygon(view: DataView, offset: number, rings: Position[][], withZ: boolean): number {
  let at = writeHeader(view, offset, POLYGON, withZ)
  view.setUint32(at, rings.length, true)
  at += 4
  for (const ring of rings) at = writePositions(view, at, ring, withZ)
  return at
}
