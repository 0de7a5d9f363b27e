import type { FlatGeometry } from '../geometry/flat-geometry.ts'
import { POINT } from '../geometry/geometry-bytes.ts'
import { putWkb, wkbBound } from '../geometry/wkb-bytes.ts'

const LITTLE_ENDIAN = 1
const BOX = 1 << 1
const EMPTY = 1 << 4
const WGS84 = 4326
const HEADER_BYTES = 8
const BOX_BYTES = 32

/** An upper bound of the bytes that `putGeometryBlob` writes. */
export function geometryBlobBound(geometry: FlatGeometry): number {
  return HEADER_BYTES + BOX_BYTES + wkbBound(geometry)
}

/**
 * Writes a geometry blob of a GeoPackage: a header, a box (except for points), and WKB. Returns the next free offset in
 * `view`.
 */
export function putGeometryBlob(
  geometry: FlatGeometry,
  isEmpty: boolean,
  hasZ: boolean,
  view: DataView,
  start: number,
): number {
  const hasBox = !isEmpty && geometry.code !== POINT
  view.setUint16(start, 0x4750, false)
  view.setUint8(start + 2, 0)
  view.setUint8(start + 3, LITTLE_ENDIAN | (hasBox ? BOX : 0) | (isEmpty ? EMPTY : 0))
  view.setInt32(start + 4, WGS84, true)
  let at = start + HEADER_BYTES
  if (hasBox) {
    view.setFloat64(at, geometry.west, true)
    view.setFloat64(at + 8, geometry.east, true)
    view.setFloat64(at + 16, geometry.south, true)
    view.setFloat64(at + 24, geometry.north, true)
    at += BOX_BYTES
  }
  return putWkb(geometry, hasZ, view, at)
}
