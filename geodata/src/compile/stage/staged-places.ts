import { GEOMETRY_TYPES, type Geometry } from '../../feature.ts'
import { type Bbox, emptyBbox, geometryBbox, isEmptyBbox } from '../../geometry/bbox.ts'
import { hasLand } from '../../geometry/land.ts'
import { pointOnSurface } from '../../geometry/point-on-surface.ts'
import { hilbertKey, UNLOCATED_KEY } from '../../hilbert.ts'
import { ColumnBytes } from '../../pack/column-bytes.ts'
import { writeGeojson } from '../../pack/write-geojson.ts'
import type { PlainColumn } from '../plain-parquet.ts'

/** Location statistics over all chunks of one stage: plain data that a worker can post. */
export interface PlaceProfile {
  located: number
  /** A set of `GEOMETRY_TYPES`, one bit each. */
  geometryTypes: number
  hasGeometry: boolean
  /** Whether boxes were staged, which is not the case if every feature is a point. */
  hasShapes: boolean
  hasZ: boolean
  bbox: Bbox
  orders: OrderProfile
}

/** Whether the first features lie on land, and whether they would with longitude and latitude exchanged. */
export interface OrderProfile {
  sampled: number
  onLand: number
  onLandExchanged: number
}

/** The features of each stage that are looked at: enough to see that axes are exchanged. */
const ORDER_SAMPLE = 1000

/** Encodes the locations of features: Hilbert key, geometry as WKB and GeoJSON, point and box. */
export class StagedPlaces {
  readonly profile: PlaceProfile = {
    located: 0,
    geometryTypes: 0,
    hasGeometry: false,
    hasShapes: false,
    hasZ: false,
    bbox: emptyBbox(),
    orders: { sampled: 0, onLand: 0, onLandExchanged: 0 },
  }
  /** For each row added: its Hilbert key, and the four numbers of its box. */
  readonly keys: Float64Array
  readonly boxes: Float64Array
  /** How many numbers of its box a row uses: 4, 2 for a point, or 0 without a location. */
  readonly boxNumbers: Uint8Array
  /** The start of each row's geometry in `text`; 0 if it has none. */
  readonly textStarts: Uint32Array
  readonly #key = new ColumnBytes()
  readonly #wkb = new ColumnBytes()
  readonly #geojson = new ColumnBytes()
  readonly #longitude = new ColumnBytes()
  readonly #latitude = new ColumnBytes()
  readonly #box = [new ColumnBytes(), new ColumnBytes(), new ColumnBytes(), new ColumnBytes()]

  #rows = 0
  readonly #hasGeometry: Uint8Array
  readonly #isLocated: Uint8Array
  readonly #hasBox: Uint8Array

  constructor(maxRows: number) {
    this.keys = new Float64Array(maxRows)
    this.boxes = new Float64Array(maxRows * 4)
    this.boxNumbers = new Uint8Array(maxRows)
    this.textStarts = new Uint32Array(maxRows)
    this.#hasGeometry = new Uint8Array(Math.ceil(maxRows / 8))
    this.#isLocated = new Uint8Array(Math.ceil(maxRows / 8))
    this.#hasBox = new Uint8Array(Math.ceil(maxRows / 8))
  }

  /** Encodes a row's geometry at once, so that its many arrays can be garbage collected early. */
  add(geometry: Geometry | null): void {
    const row = this.#rows++
    const bit = 1 << (row & 7)
    this.keys[row] = UNLOCATED_KEY
    this.textStarts[row] = 0
    if (geometry !== null) {
      this.#hasGeometry[row >> 3]! |= bit
      this.textStarts[row] = this.#geojson.length + 4
      const withZ = writeGeojson(geometry, this.#geojson)
      this.#wkb.geometry(geometry, withZ)
      this.#note(geometry, withZ)
      if (this.#locate(geometry, row)) {
        this.#isLocated[row >> 3]! |= bit
        if (geometry.type !== 'Point') this.#hasBox[row >> 3]! |= bit
      }
    }
    this.#key.double(this.keys[row]!)
  }

  /** Discards the rows. The result of `encode` must have been written before. */
  clear(): void {
    this.#rows = 0
    for (const bytes of [this.#key, this.#wkb, this.#geojson, this.#longitude, this.#latitude, ...this.#box])
      bytes.clear()
    for (const array of [this.boxNumbers, this.#hasGeometry, this.#isLocated, this.#hasBox]) array.fill(0)
  }

  /** The GeoJSON texts of the geometries. */
  get text(): ColumnBytes {
    return this.#geojson
  }

  /** The columns of the rows added since the last `clear`. */
  encode(): PlainColumn[] {
    const bytes = Math.ceil(this.#rows / 8)
    const [hasGeometry, isLocated, hasBox] = [this.#hasGeometry, this.#isLocated, this.#hasBox].map((bits) =>
      bits.subarray(0, bytes),
    ) as [Uint8Array, Uint8Array, Uint8Array]
    const columns: PlainColumn[] = [{ name: 'key', type: 'double', present: null, data: this.#key.bytes() }]
    if (hasGeometry.some((bits) => bits !== 0)) {
      columns.push(
        { name: 'wkb', type: 'bytes', present: hasGeometry, data: this.#wkb.bytes() },
        { name: 'longitude', type: 'double', present: isLocated, data: this.#longitude.bytes() },
        { name: 'latitude', type: 'double', present: isLocated, data: this.#latitude.bytes() },
      )
    }
    if (hasBox.some((bits) => bits !== 0)) {
      for (const [i, name] of ['west', 'south', 'east', 'north'].entries())
        columns.push({ name, type: 'double', present: hasBox, data: this.#box[i]!.bytes() })
    }
    return columns
  }

  #note(geometry: Geometry, withZ: boolean): void {
    const profile = this.profile
    profile.hasGeometry = true
    profile.geometryTypes |= 1 << GEOMETRY_TYPES.indexOf(geometry.type)
    profile.hasZ ||= withZ
  }

  /** Returns false if the geometry is empty. Points, the most frequent type, take a path without a box. */
  #locate(geometry: Geometry, row: number): boolean {
    if (geometry.type === 'Point') {
      if (geometry.coordinates.length === 0) return false
      const [x, y] = geometry.coordinates as [number, number]
      this.#extend(x, y, x, y)
      this.#countOrder(x, y)
      this.keys[row] = hilbertKey(x, y)
      this.boxes[row * 4] = x
      this.boxes[row * 4 + 1] = y
      this.boxNumbers[row] = 2
      this.#longitude.double(x)
      this.#latitude.double(y)
      return true
    }
    const box = geometryBbox(geometry)
    if (isEmptyBbox(box)) return false
    const point = pointOnSurface(geometry)!
    this.profile.hasShapes = true
    this.#extend(...box)
    this.#countOrder(point[0]!, point[1]!)
    this.keys[row] = hilbertKey((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    this.boxes.set(box, row * 4)
    this.boxNumbers[row] = 4
    this.#longitude.double(point[0]!)
    this.#latitude.double(point[1]!)
    for (let side = 0; side < 4; side++) this.#box[side]!.double(box[side]!)
    return true
  }

  #countOrder(x: number, y: number): void {
    const { orders } = this.profile
    if (orders.sampled === ORDER_SAMPLE) return
    orders.sampled++
    if (hasLand(x, y)) orders.onLand++
    if (Math.abs(x) <= 90 && hasLand(y, x)) orders.onLandExchanged++
  }

  #extend(west: number, south: number, east: number, north: number): void {
    const { bbox } = this.profile
    this.profile.located++
    if (west < bbox[0]) bbox[0] = west
    if (south < bbox[1]) bbox[1] = south
    if (east > bbox[2]) bbox[2] = east
    if (north > bbox[3]) bbox[3] = north
  }
}
