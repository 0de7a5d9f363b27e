import type { Room } from '../encoding/growing-room.ts'
import type { FlatGeometry } from '../geometry/flat-geometry.ts'
import { COLLECTION, MULTI_LINE_STRING, MULTI_POLYGON, POLYGON } from '../geometry/geometry-bytes.ts'

/** The fixed size of a geometry's table, the lengths of its vectors, and the max alignment padding. */
const TABLE_BYTES = 96
/** The vtable sizes for `geometry` and `properties` of a feature, and for the eight fields of a geometry. */
const FEATURE_VTABLE = 8
const GEOMETRY_VTABLE = 20

/** An upper bound of a feature's size in bytes, without its properties. */
export function featureBound(geometry: FlatGeometry): number {
  const members = geometry.members
    .slice(0, geometry.memberCount)
    .reduce((sum, member) => sum + featureBound(member), 0)
  return members + TABLE_BYTES * (2 + geometry.partCount) + geometry.points * 24 + geometry.ringCount * 8
}

/**
 * Writes one feature of a FlatGeobuf file: a size-prefixed FlatBuffers table, parents before children.
 * Doubles are aligned to 8 bytes relative to the size prefix, as the reference writers do. `putProperties`
 * writes the values and returns their end.
 */
export function putFeature(
  sink: Room,
  geometry: FlatGeometry | null,
  hasZ: boolean,
  putProperties: (at: number) => number,
): void {
  const { view } = sink
  const base = sink.at
  const vtable = base + 8
  const table = vtable + FEATURE_VTABLE
  view.setUint32(base + 4, table - (base + 4), true)
  view.setUint16(vtable, FEATURE_VTABLE, true)
  view.setUint16(vtable + 2, 12, true)
  view.setUint16(vtable + 4, geometry ? 4 : 0, true)
  view.setUint16(vtable + 6, 8, true)
  view.setInt32(table, FEATURE_VTABLE, true)
  view.setUint32(table + 4, 0, true)
  let at = table + 12
  const length = at
  at = putProperties(length + 4)
  view.setUint32(length, at - length - 4, true)
  view.setUint32(table + 8, length - (table + 8), true)
  at = padded(sink, base, at, 4)
  if (geometry) {
    const encoder = new GeometryEncoder(view, base, hasZ, at)
    view.setUint32(table + 4, encoder.put(geometry) - (table + 4), true)
    at = encoder.at
  }
  at = padded(sink, base, at, 8)
  view.setUint32(base, at - base - 4, true)
  sink.at = at
}

function padded({ buffer }: Room, base: number, at: number, alignment: number): number {
  while ((at - base) % alignment !== 0) buffer[at++] = 0
  return at
}

class GeometryEncoder {
  at: number
  readonly #view: DataView
  readonly #base: number
  readonly #hasZ: boolean

  constructor(view: DataView, base: number, hasZ: boolean, at: number) {
    this.#view = view
    this.#base = base
    this.#hasZ = hasZ
    this.at = at
  }

  /** Returns the offset of the geometry's table. */
  put(geometry: FlatGeometry): number {
    const { code } = geometry
    if (code === COLLECTION) {
      const leaves = geometry.members
        .slice(0, geometry.memberCount)
        .filter((member) => member.west <= member.east)
      return this.#putParts(
        code,
        leaves.map((member) => () => this.put(member)),
      )
    }
    if (code === MULTI_POLYGON) {
      const polygons = Array.from({ length: geometry.partCount }, (_, part) => () => {
        const from = part === 0 ? 0 : geometry.parts[part - 1]!
        return this.#putLists(POLYGON, geometry, from, geometry.parts[part]!)
      })
      return this.#putParts(code, polygons)
    }
    const lists = code === POLYGON || code === MULTI_LINE_STRING
    return this.#putLists(code, geometry, 0, lists ? geometry.ringCount : -1)
  }

  /** Writes positions and the ends of the lists `first` to `last`; `last` is -1 for a single list. */
  #putLists(code: number, geometry: FlatGeometry, first: number, last: number): number {
    const from = first === 0 ? 0 : geometry.rings[first - 1]!
    const to = last < 0 ? geometry.points : geometry.rings[last - 1]!
    const table = this.#putTable(code, last >= 0, true, this.#hasZ, false)
    const view = this.#view
    if (last >= 0) {
      this.#pointTo(table + 4)
      view.setUint32(this.at, last - first, true)
      this.at += 4
      for (let ring = first; ring < last; ring++, this.at += 4) {
        view.setUint32(this.at, geometry.rings[ring]! - from, true)
      }
    }
    this.#putDoubles(table + 8, geometry.xy, from * 2, to * 2)
    if (this.#hasZ) this.#putDoubles(table + 12, geometry.z, from, to)
    return table
  }

  #putParts(code: number, parts: (() => number)[]): number {
    const table = this.#putTable(code, false, false, false, true)
    this.#pointTo(table + 16)
    this.#view.setUint32(this.at, parts.length, true)
    let pointer = this.at + 4
    this.at = pointer + parts.length * 4
    for (const part of parts) {
      const target = part()
      this.#view.setUint32(pointer, target - pointer, true)
      pointer += 4
    }
    return table
  }

  /** Writes the vtable and the fields: ends at 4, xy at 8, z at 12, parts at 16, the type at 20. */
  #putTable(code: number, ends: boolean, xy: boolean, z: boolean, parts: boolean): number {
    const view = this.#view
    const vtable = this.at
    const table = vtable + GEOMETRY_VTABLE
    view.setUint16(vtable, GEOMETRY_VTABLE, true)
    view.setUint16(vtable + 2, 24, true)
    view.setUint16(vtable + 4, ends ? 4 : 0, true)
    view.setUint16(vtable + 6, xy ? 8 : 0, true)
    view.setUint16(vtable + 8, z ? 12 : 0, true)
    view.setUint16(vtable + 10, 0, true)
    view.setUint16(vtable + 12, 0, true)
    view.setUint16(vtable + 14, 0, true)
    view.setUint16(vtable + 16, 20, true)
    view.setUint16(vtable + 18, parts ? 16 : 0, true)
    view.setInt32(table, GEOMETRY_VTABLE, true)
    for (let field = 4; field < 24; field += 4) view.setUint32(table + field, 0, true)
    view.setUint8(table + 20, code)
    this.at = table + 24
    return table
  }

  #putDoubles(pointer: number, values: Float64Array, from: number, to: number): void {
    if ((this.at - this.#base) % 8 === 0) {
      this.#view.setUint32(this.at, 0, true)
      this.at += 4
    }
    this.#pointTo(pointer)
    this.#view.setUint32(this.at, to - from, true)
    this.at += 4
    for (let i = from; i < to; i++, this.at += 8) this.#view.setFloat64(this.at, values[i]!, true)
  }

  #pointTo(pointer: number): void {
    this.#view.setUint32(pointer, this.at - pointer, true)
  }
}
