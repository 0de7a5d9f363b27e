import { ByteSink } from '../byte-sink.ts'
import type { FlatGeometry } from '../geometry/flat-geometry.ts'
import { orientRings } from './orient-rings.ts'

export type Family = 'point' | 'line' | 'polygon'

const POINT = 1
const LINE = 3
const POLYGON = 5
const MULTI_POINT = 8
/** Added to the type of geometries with heights. */
const WITH_Z = 10
const HEADER = 100
/** The format defines any value below -10^38 as "no measure". */
const NO_MEASURE = -1e39

/** The geometries of one layer, `.shp` and `.shx`, according to the ESRI Shapefile Technical Description. */
export class ShpWriter {
  readonly #shp: ByteSink
  readonly #shx: ByteSink
  readonly #type: number
  readonly #hasZ: boolean
  ringsLeftOut = 0
  #records = 0
  #bounds = [Infinity, Infinity, -Infinity, -Infinity]
  #zBounds: [number, number] = [Infinity, -Infinity]

  constructor(path: string, family: Family, { multi, hasZ }: { multi: boolean; hasZ: boolean }) {
    const flat = family === 'polygon' ? POLYGON : family === 'line' ? LINE : multi ? MULTI_POINT : POINT
    this.#type = flat
    this.#hasZ = hasZ
    this.#shp = new ByteSink(`${path}.shp`, { hashed: false })
    this.#shx = new ByteSink(`${path}.shx`, { hashed: false })
    this.#shp.write(Buffer.alloc(HEADER))
    this.#shx.write(Buffer.alloc(HEADER))
  }

  get length(): number {
    return this.#shp.length
  }

  /** The bytes that a record takes at most. */
  maxRecordBytes(geometry: FlatGeometry | null): number {
    if (geometry === null) return 8 + 4
    if (this.#type === POINT) return 8 + 36
    const { points, ringCount } = geometry
    return 8 + 4 + 32 + 4 + 4 + ringCount * 4 + points * 16 + (this.#hasZ ? 16 + points * 8 : 0)
  }

  addNull(): void {
    const at = this.#start(4)
    this.#shp.view.setInt32(at, 0, true)
  }

  add(geometry: FlatGeometry): void {
    if (this.#type === POLYGON) this.ringsLeftOut += orientRings(geometry)
    this.#extend(geometry)
    if (this.#type === POINT) this.#addPoint(geometry)
    else if (this.#type === MULTI_POINT) this.#addList(geometry, 0)
    else this.#addList(geometry, geometry.ringCount)
  }

  close(): void {
    this.#shp.patch(0, this.#header(this.#shp.length))
    this.#shx.patch(0, this.#header(this.#shx.length))
    this.#shp.close()
    this.#shx.close()
  }

  abandon(): void {
    this.#shp.abandon()
    this.#shx.abandon()
  }

  #code(): number {
    return this.#type + (this.#hasZ ? WITH_Z : 0)
  }

  /** Writes the record's header and its index entry; returns the offset of its content. */
  #start(bytes: number): number {
    const offset = this.#shp.length
    this.#shp.reserve(8 + bytes)
    this.#shx.reserve(8)
    const at = this.#shp.at
    this.#shp.view.setInt32(at, ++this.#records, false)
    this.#shp.view.setInt32(at + 4, bytes / 2, false)
    this.#shp.at = at + 8 + bytes
    this.#shx.view.setInt32(this.#shx.at, offset / 2, false)
    this.#shx.view.setInt32(this.#shx.at + 4, bytes / 2, false)
    this.#shx.at += 8
    return at + 8
  }

  #addPoint(geometry: FlatGeometry): void {
    const at = this.#start(this.#hasZ ? 36 : 20)
    const { view } = this.#shp
    view.setInt32(at, this.#code(), true)
    view.setFloat64(at + 4, geometry.xy[0]!, true)
    view.setFloat64(at + 12, geometry.xy[1]!, true)
    if (!this.#hasZ) return
    view.setFloat64(at + 20, geometry.z[0]!, true)
    view.setFloat64(at + 28, NO_MEASURE, true)
  }

  /** `rings` is 0 for a MultiPoint, which has no table of parts. Empty lists are not allowed. */
  #addList(geometry: FlatGeometry, rings: number): void {
    const { points } = geometry
    let parts = 0
    for (let r = 0; r < rings; r++) if (ringStart(geometry, r) < geometry.rings[r]!) parts++
    const table = rings > 0 ? 4 + parts * 4 : 0
    const at = this.#start(4 + 32 + 4 + table + points * 16 + (this.#hasZ ? 16 + points * 8 : 0))
    const { view } = this.#shp
    view.setInt32(at, this.#code(), true)
    view.setFloat64(at + 4, geometry.west, true)
    view.setFloat64(at + 12, geometry.south, true)
    view.setFloat64(at + 20, geometry.east, true)
    view.setFloat64(at + 28, geometry.north, true)
    let p = at + 36
    if (rings > 0) {
      view.setInt32(p, parts, true)
      p += 4
    }
    view.setInt32(p, points, true)
    p += 4
    for (let r = 0; r < rings; r++) {
      if (ringStart(geometry, r) === geometry.rings[r]) continue
      view.setInt32(p, ringStart(geometry, r), true)
      p += 4
    }
    const { xy, z } = geometry
    for (let i = 0; i < points * 2; i++, p += 8) view.setFloat64(p, xy[i]!, true)
    if (!this.#hasZ) return
    view.setFloat64(p, least(geometry), true)
    view.setFloat64(p + 8, greatest(geometry), true)
    p += 16
    for (let i = 0; i < points; i++, p += 8) view.setFloat64(p, z[i]!, true)
  }

  #extend(geometry: FlatGeometry): void {
    const bounds = this.#bounds
    if (geometry.west < bounds[0]!) bounds[0] = geometry.west
    if (geometry.south < bounds[1]!) bounds[1] = geometry.south
    if (geometry.east > bounds[2]!) bounds[2] = geometry.east
    if (geometry.north > bounds[3]!) bounds[3] = geometry.north
    if (!this.#hasZ) return
    this.#zBounds[0] = Math.min(this.#zBounds[0], least(geometry))
    this.#zBounds[1] = Math.max(this.#zBounds[1], greatest(geometry))
  }

  #header(bytes: number): Buffer {
    const header = Buffer.alloc(HEADER)
    header.writeInt32BE(9994, 0)
    header.writeInt32BE(bytes / 2, 24)
    header.writeInt32LE(1000, 28)
    header.writeInt32LE(this.#code(), 32)
    if (this.#bounds[0]! <= this.#bounds[2]!) putDoubles(header, 36, this.#bounds)
    if (this.#zBounds[0] <= this.#zBounds[1]) putDoubles(header, 68, this.#zBounds)
    return header
  }
}

function putDoubles(bytes: Buffer, at: number, values: readonly number[]): void {
  for (const [i, value] of values.entries()) bytes.writeDoubleLE(value, at + i * 8)
}

function ringStart(geometry: FlatGeometry, ring: number): number {
  return ring === 0 ? 0 : geometry.rings[ring - 1]!
}

function least({ z, points }: FlatGeometry): number {
  let minimum = Infinity
  for (let i = 0; i < points; i++) if (z[i]! < minimum) minimum = z[i]!
  return minimum
}

function greatest({ z, points }: FlatGeometry): number {
  let maximum = -Infinity
  for (let i = 0; i < points; i++) if (z[i]! > maximum) maximum = z[i]!
  return maximum
}
