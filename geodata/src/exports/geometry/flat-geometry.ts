import { doubled } from '../../bytes/doubled.ts'
import {
  COLLECTION,
  DEPTH,
  geometryBody,
  geometryCode,
  MULTI_POINT,
  MULTI_POLYGON,
  POINT,
  POLYGON,
  parseNumber,
} from './geometry-bytes.ts'

const OPENING = 0x5b
const CLOSING = 0x5d
const COMMA = 0x2c
const CLOSING_BRACE = 0x7d

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
  #end = 0

  /** Reads the geometry at `start`, and returns whether it has any position. */
  read(bytes: Buffer, start: number): boolean {
    this.code = geometryCode(bytes, start)
    this.points = this.ringCount = this.partCount = this.memberCount = 0
    this.hasZ = false
    this.west = this.south = Infinity
    this.east = this.north = -Infinity
    if (this.code === 0) return false
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
      p = member.#end
      this.hasZ ||= member.hasZ
      this.points += member.points
      this.west = Math.min(this.west, member.west)
      this.south = Math.min(this.south, member.south)
      this.east = Math.max(this.east, member.east)
      this.north = Math.max(this.north, member.north)
    }
    this.#end = p + 2
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
    this.#end = p + (bytes[p] === CLOSING_BRACE ? 1 : 0)
  }

  #readPosition(bytes: Buffer, start: number): number {
    let p = start
    if (bytes[p] === CLOSING) return p + 1
    while (bytes[p] !== COMMA) p++
    const x = parseNumber(bytes, start, p)
    let from = ++p
    while (bytes[p] !== COMMA && bytes[p] !== CLOSING) p++
    const y = parseNumber(bytes, from, p)
    let z = 0
    if (bytes[p] === COMMA) {
      from = ++p
      while (bytes[p] !== CLOSING) p++
      z = parseNumber(bytes, from, p)
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
    return p + 1
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
