import { doubled } from '../../bytes/doubled.ts'
import {
  COLLECTION,
  DEPTH,
  geometryBody,
  geometryCode,
  MAX_EXACT,
  MAX_NUMBER_BYTES,
  MULTI_POINT,
  MULTI_POLYGON,
  POINT,
  POLYGON,
  POWERS,
  parseNumber,
} from './geometry-bytes.ts'

const OPENING = 0x5b
const CLOSING = 0x5d
const COMMA = 0x2c
const CLOSING_BRACE = 0x7d
const MINUS = 0x2d
const POINT_SIGN = 0x2e
const ZERO = 0x30
/** The length of `null`. */
const NULL_BYTES = 4

/**
 * One geometry as flat arrays of numbers, reused for each feature; the binary formats are written from it.
 * `xy` and `z` hold `points` positions; `rings` holds the end of each list of positions (a line or a ring;
 * the points of a MultiPoint are one list), `parts` the end of each polygon's rings.
 */
export class FlatGeometry {
  code = 0
  xy = new Float64Array(64)
  z = new Float64Array(32)
  hasZ = false
  points = 0
  rings = new Int32Array(16)
  ringCount = 0
  parts = new Int32Array(16)
  partCount = 0
  members: FlatGeometry[] = []
  memberCount = 0
  /** The bounding box of all positions; infinite and inverted if there are none. */
  west = Infinity
  south = Infinity
  east = -Infinity
  north = -Infinity
  /** Where the bytes of the geometry end. */
  end = 0
  /** Where the number that was read last ends. */
  #numberEnd = 0

  /** Reads the geometry at `start`, and returns whether it has any position. */
  read(bytes: Buffer, start: number): boolean {
    this.code = geometryCode(bytes, start)
    this.points = this.ringCount = this.partCount = this.memberCount = 0
    this.hasZ = false
    this.west = this.south = Infinity
    this.east = this.north = -Infinity
    if (this.code === 0) {
      this.end = start + NULL_BYTES
      return false
    }
    if (this.code === COLLECTION) this.#readMembers(bytes, start)
    else this.#readCoordinates(bytes, geometryBody(start, this.code))
    return this.west <= this.east
  }

  /** Turns a single geometry into a multi-geometry with one part. */
  promote(): void {
    if (this.code >= POINT && this.code <= POLYGON) this.code += MULTI_POINT - POINT
  }

  /** Returns all members recursively, so that no collection is among them. */
  leaves(): FlatGeometry[] {
    if (this.code !== COLLECTION) return [this]
    return this.members.slice(0, this.memberCount).flatMap((member) => member.leaves())
  }

  #readMembers(bytes: Buffer, start: number): void {
    let p = geometryBody(start, COLLECTION) + 1
    while (bytes[p] !== CLOSING) {
      if (bytes[p] === COMMA) p++
      const member = this.members[this.memberCount] ?? new FlatGeometry()
      this.members[this.memberCount++] = member
      member.read(bytes, p)
      p = member.end
      this.hasZ ||= member.hasZ
      this.points += member.points
      this.west = Math.min(this.west, member.west)
      this.south = Math.min(this.south, member.south)
      this.east = Math.max(this.east, member.east)
      this.north = Math.max(this.north, member.north)
    }
    this.end = p + 2
  }

  #readCoordinates(bytes: Buffer, start: number): void {
    const positionDepth = DEPTH[this.code]! + 1
    let depth = 0
    let p = start
    do {
      const byte = bytes[p]
      if (byte === OPENING) {
        if (++depth < positionDepth) p++
        else {
          p = this.#readPosition(bytes, p + 1)
          depth--
        }
      } else if (byte === CLOSING) {
        if (depth === positionDepth - 1) this.#endRing()
        else if (depth === 2) this.#endPart()
        depth--
        p++
      } else p++
    } while (depth > 0)
    if (this.code === POLYGON || (this.code === MULTI_POLYGON && this.partCount === 0)) this.#endPart()
    this.end = p + (bytes[p] === CLOSING_BRACE ? 1 : 0)
  }

  #readPosition(bytes: Buffer, start: number): number {
    if (bytes[start] === CLOSING) return start + 1
    const x = this.#readNumber(bytes, start)
    const y = this.#readNumber(bytes, this.#numberEnd + 1)
    let z = 0
    if (bytes[this.#numberEnd] === COMMA) {
      z = this.#readNumber(bytes, this.#numberEnd + 1)
      this.hasZ = true
    }
    const at = this.points++
    if (at === this.z.length) {
      this.xy = doubled(this.xy)
      this.z = doubled(this.z)
    }
    this.xy[at * 2] = x
    this.xy[at * 2 + 1] = y
    this.z[at] = z
    if (x < this.west) this.west = x
    if (x > this.east) this.east = x
    if (y < this.south) this.south = y
    if (y > this.north) this.north = y
    return this.#numberEnd + 1
  }

  /** `parseNumber` for a number that ends with a comma or a bracket, which are found while its digits are read. */
  #readNumber(bytes: Buffer, start: number): number {
    const isNegative = bytes[start] === MINUS
    const first = isNegative ? start + 1 : start
    let p = first
    let digits = 0
    let fraction = 0
    for (let byte = bytes[p]!; byte !== COMMA && byte !== CLOSING; byte = bytes[++p]!) {
      const digit = byte - ZERO
      if (digit >= 0 && digit <= 9) digits = digits * 10 + digit
      else if (byte === POINT_SIGN) fraction = p + 1
      else return this.#readAnyNumber(bytes, start)
    }
    if (p - first > MAX_NUMBER_BYTES || digits > MAX_EXACT) return this.#readAnyNumber(bytes, start)
    this.#numberEnd = p
    const value = fraction === 0 ? digits : digits / POWERS[p - fraction]!
    return isNegative ? -value : value
  }

  #readAnyNumber(bytes: Buffer, start: number): number {
    let p = start
    while (p < bytes.length && bytes[p] !== COMMA && bytes[p] !== CLOSING) p++
    this.#numberEnd = p
    return parseNumber(bytes, start, p)
  }

  #endRing(): void {
    if (this.ringCount === this.rings.length) this.rings = doubled(this.rings)
    this.rings[this.ringCount++] = this.points
  }

  #endPart(): void {
    if (this.partCount === this.parts.length) this.parts = doubled(this.parts)
    this.parts[this.partCount++] = this.ringCount
  }
}
