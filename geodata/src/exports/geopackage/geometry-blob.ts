import type { FlatGeometry } from '../geometry/flat-geometry.ts'
import { POINT } from '../geometry/geometry-bytes.ts'
import { putWkb, wkbBound } from '../geometry/wkb-bytes.ts'

const LITTLE_ENDIAN = 1
const BOX = 1 << 1
const EMPTY = 1 << 4
const WGS84 = 4326

/** Creates the geometry blobs of a GeoPackage: a header, a box (except for points), and WKB. */
export class GeometryBlobs {
  #bytes = new Uint8Array(1 << 12)
  #view = new DataView(this.#bytes.buffer)
  readonly #hasZ: boolean

  constructor(hasZ: boolean) {
    this.#hasZ = hasZ
  }

  /** The result is only valid until the next call. */
  blob(geometry: FlatGeometry, empty: boolean): Uint8Array {
    const bound = 40 + wkbBound(geometry)
    if (bound > this.#bytes.length) {
      this.#bytes = new Uint8Array(bound * 2)
      this.#view = new DataView(this.#bytes.buffer)
    }
    const view = this.#view
    const boxed = !empty && geometry.code !== POINT
    view.setUint16(0, 0x4750, false)
    view.setUint8(2, 0)
    view.setUint8(3, LITTLE_ENDIAN | (boxed ? BOX : 0) | (empty ? EMPTY : 0))
    view.setInt32(4, WGS84, true)
    let at = 8
    if (boxed) {
      view.setFloat64(8, geometry.west, true)
      view.setFloat64(16, geometry.east, true)
      view.setFloat64(24, geometry.south, true)
      view.setFloat64(32, geometry.north, true)
      at = 40
    }
    return this.#bytes.subarray(0, putWkb(geometry, this.#hasZ, view, at))
  }
}
