import type { Geometry, Position } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'

/**
 * SpatiaLite's geometries: the byte 0x00, the byte order, the SRID, the bounding box, 0x7C, the type, the
 * coordinates and 0xFE. Types are those of WKB (+1000 Z, +2000 M, +3000 both). +1000000 marks lines and polygons
 * whose inner positions are differences of 32 bits. Each part of a collection has a mark and a type of its own.
 */
const START = 0x00
const BOX_END = 0x7c
const PART = 0x69
const END = 0xfe
const TYPE_OFFSET = 39
const COMPRESSED = 1_000_000
/** A point without a bounding box, since SpatiaLite 5: its byte order is one of these. */
const TINY_BIG_ENDIAN = 0x80
const TINY_LITTLE_ENDIAN = 0x81
const TINY_TYPE_OFFSET = 6

const POINT = 1
const LINE_STRING = 2
const POLYGON = 3
const MULTI_POINT = 4
const MULTI_LINE_STRING = 5
const MULTI_POLYGON = 6
const GEOMETRY_COLLECTION = 7

type Part = Extract<Geometry, { type: 'Point' | 'LineString' | 'Polygon' }>

/** Throws a SourceError that says what is wrong. */
export function readSpatialiteGeometry(bytes: Uint8Array): Geometry {
  const order = bytes[1]!
  if (bytes.length < 24 || bytes[0] !== START || bytes.at(-1) !== END) throw notSpatialite()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength - 1)
  if (order === TINY_BIG_ENDIAN || order === TINY_LITTLE_ENDIAN) return tinyPoint(view, order)
  if (order > 1 || bytes.length < TYPE_OFFSET + 5 || bytes[TYPE_OFFSET - 1] !== BOX_END) throw notSpatialite()
  return new BlobReader(view, TYPE_OFFSET, order === 1).geometry()
}

function notSpatialite(): SourceError {
  return new SourceError('the geometry is not a SpatiaLite geometry')
}

function tinyPoint(view: DataView, order: number): Geometry {
  const dimensions = view.getUint8(TINY_TYPE_OFFSET) - 1
  if (dimensions < 0 || dimensions > 3) throw notSpatialite()
  const reader = new BlobReader(view, TINY_TYPE_OFFSET + 1, order === TINY_LITTLE_ENDIAN)
  return reader.part(POINT + 1000 * dimensions)
}

class BlobReader {
  readonly #view: DataView
  readonly #littleEndian: boolean
  #offset: number
  #hasZ = false
  #hasM = false
  #isCompressed = false

  constructor(view: DataView, offset: number, littleEndian: boolean) {
    this.#view = view
    this.#offset = offset
    this.#littleEndian = littleEndian
  }

  geometry(): Geometry {
    const type = this.#uint32()
    switch (type % 1000) {
      case MULTI_POINT:
        return { type: 'MultiPoint', coordinates: this.#parts('Point').map((part) => part.coordinates) }
      case MULTI_LINE_STRING:
        return {
          type: 'MultiLineString',
          coordinates: this.#parts('LineString').map((part) => part.coordinates),
        }
      case MULTI_POLYGON:
        return { type: 'MultiPolygon', coordinates: this.#parts('Polygon').map((part) => part.coordinates) }
      case GEOMETRY_COLLECTION:
        return { type: 'GeometryCollection', geometries: this.#parts() }
      default:
        return this.part(type)
    }
  }

  /** The coordinates of a point, line or polygon. */
  part(type: number): Part {
    const dimensions = Math.floor((type % COMPRESSED) / 1000)
    this.#isCompressed = type >= COMPRESSED
    this.#hasZ = dimensions === 1 || dimensions === 3
    this.#hasM = dimensions >= 2
    if (type >= 2 * COMPRESSED || dimensions > 3) throw unknownType(type)
    switch (type % 1000) {
      case POINT:
        return { type: 'Point', coordinates: this.#point() }
      case LINE_STRING:
        return { type: 'LineString', coordinates: this.#line() }
      case POLYGON: {
        const rings: Position[][] = []
        for (let count = this.#count(4); count > 0; count--) rings.push(this.#line())
        return { type: 'Polygon', coordinates: rings }
      }
      default:
        throw unknownType(type)
    }
  }

  #parts<T extends Part['type']>(expected?: T): Extract<Part, { type: T }>[] {
    const parts: Extract<Part, { type: T }>[] = []
    for (let count = this.#count(9); count > 0; count--) {
      this.#need(5)
      if (this.#view.getUint8(this.#offset++) !== PART) throw notSpatialite()
      const part = this.part(this.#uint32())
      if (expected !== undefined && part.type !== expected)
        throw new SourceError(`the geometry contains a ${part.type} where only a ${expected} is allowed`)
      parts.push(part as Extract<Part, { type: T }>)
    }
    return parts
  }

  #need(bytes: number): void {
    if (this.#offset + bytes > this.#view.byteLength) throw new SourceError('the geometry ends too early')
  }

  #uint32(): number {
    this.#need(4)
    const value = this.#view.getUint32(this.#offset, this.#littleEndian)
    this.#offset += 4
    return value
  }

  /** Checks a count against the remaining bytes, so that a false count does not allocate memory. */
  #count(minBytesEach: number): number {
    const count = this.#uint32()
    this.#need(count * minBytesEach)
    return count
  }

  #double(): number {
    const value = this.#view.getFloat64(this.#offset, this.#littleEndian)
    this.#offset += 8
    return value
  }

  #float(): number {
    const value = this.#view.getFloat32(this.#offset, this.#littleEndian)
    this.#offset += 4
    return value
  }

  #point(): Position {
    this.#need(16 + (this.#hasZ ? 8 : 0) + (this.#hasM ? 8 : 0))
    const position = this.#position()
    return Number.isNaN(position[0]) && Number.isNaN(position[1]) ? [] : position
  }

  #position(): Position {
    const position = [this.#double(), this.#double()]
    if (this.#hasZ) position.push(this.#double())
    if (this.#hasM) this.#offset += 8
    return position
  }

  #line(): Position[] {
    const wholeBytes = 16 + (this.#hasZ ? 8 : 0) + (this.#hasM ? 8 : 0)
    if (!this.#isCompressed) {
      const count = this.#count(wholeBytes)
      return Array.from({ length: count }, () => this.#position())
    }
    // The first and the last position are whole, and M always is.
    const innerBytes = 8 + (this.#hasZ ? 4 : 0) + (this.#hasM ? 8 : 0)
    const count = this.#count(innerBytes)
    this.#need(Math.max(0, count - 2) * innerBytes + Math.min(2, count) * wholeBytes)
    const positions: Position[] = new Array(count)
    for (let i = 0; i < count; i++)
      positions[i] = i === 0 || i === count - 1 ? this.#position() : this.#moved(positions[i - 1]!)
    return positions
  }

  #moved([x, y, z]: Position): Position {
    const position = [x! + this.#float(), y! + this.#float()]
    if (this.#hasZ) position.push(z! + this.#float())
    if (this.#hasM) this.#offset += 8
    return position
  }
}

function unknownType(type: number): SourceError {
  return new SourceError(`the geometry has the unknown SpatiaLite type ${type}`)
}
