import type { FlatGeometry } from './flat-geometry.ts'
import {
  COLLECTION,
  LINE_STRING,
  MULTI_LINE_STRING,
  MULTI_POINT,
  MULTI_POLYGON,
  POINT,
  POLYGON,
} from './geometry-bytes.ts'

/** Byte order, type and one count. */
const HEAD = 9

/** An upper bound of the bytes that `putWkb` writes. */
export function wkbBound(geometry: FlatGeometry): number {
  const members = geometry.members
    .slice(0, geometry.memberCount)
    .reduce((sum, member) => sum + wkbBound(member), 0)
  return (
    members +
    HEAD +
    (HEAD + 24) * geometry.points +
    (HEAD + 4) * (geometry.ringCount + geometry.partCount + 1)
  )
}

/**
 * Writes a geometry as ISO WKB, little-endian; an empty point has NaN coordinates. With `hasZ` every position
 * gets a height, 0 if it has none. Returns the next free offset in `view`.
 */
export function putWkb(geometry: FlatGeometry, hasZ: boolean, view: DataView, at: number): number {
  const { code } = geometry
  at = putHead(view, at, code, hasZ)
  if (code === POINT) {
    if (geometry.points > 0) return putPositions(geometry, 0, 1, hasZ, view, at)
    for (let i = 0; i < (hasZ ? 3 : 2); i++, at += 8) view.setFloat64(at, Number.NaN, true)
    return at
  }
  if (code === LINE_STRING) return putList(geometry, 0, geometry.points, hasZ, view, at)
  if (code === POLYGON) return putRings(geometry, 0, geometry.ringCount, hasZ, view, at)
  if (code === MULTI_POINT) {
    at = putCount(view, at, geometry.points)
    for (let i = 0; i < geometry.points; i++) {
      at = putPositions(geometry, i, i + 1, hasZ, view, putHead(view, at, POINT, hasZ))
    }
  } else if (code === MULTI_LINE_STRING) {
    at = putCount(view, at, geometry.ringCount)
    for (let ring = 0, start = 0; ring < geometry.ringCount; start = geometry.rings[ring++]!) {
      at = putList(geometry, start, geometry.rings[ring]!, hasZ, view, putHead(view, at, LINE_STRING, hasZ))
    }
  } else if (code === MULTI_POLYGON) {
    const parts = geometry.points > 0 ? geometry.partCount : 0
    at = putCount(view, at, parts)
    for (let part = 0, ring = 0; part < parts; ring = geometry.parts[part++]!) {
      at = putRings(geometry, ring, geometry.parts[part]!, hasZ, view, putHead(view, at, POLYGON, hasZ))
    }
  } else if (code === COLLECTION) {
    at = putCount(view, at, geometry.memberCount)
    for (let i = 0; i < geometry.memberCount; i++) at = putWkb(geometry.members[i]!, hasZ, view, at)
  }
  return at
}

function putHead(view: DataView, at: number, code: number, hasZ: boolean): number {
  view.setUint8(at, 1)
  view.setUint32(at + 1, code + (hasZ ? 1000 : 0), true)
  return at + 5
}

function putCount(view: DataView, at: number, count: number): number {
  view.setUint32(at, count, true)
  return at + 4
}

function putRings(
  geometry: FlatGeometry,
  from: number,
  to: number,
  hasZ: boolean,
  view: DataView,
  at: number,
): number {
  at = putCount(view, at, geometry.points > 0 ? to - from : 0)
  if (geometry.points === 0) return at
  for (let ring = from; ring < to; ring++) {
    at = putList(geometry, ring === 0 ? 0 : geometry.rings[ring - 1]!, geometry.rings[ring]!, hasZ, view, at)
  }
  return at
}

function putList(
  geometry: FlatGeometry,
  from: number,
  to: number,
  hasZ: boolean,
  view: DataView,
  at: number,
): number {
  return putPositions(geometry, from, to, hasZ, view, putCount(view, at, to - from))
}

function putPositions(
  { xy, z }: FlatGeometry,
  from: number,
  to: number,
  hasZ: boolean,
  view: DataView,
  at: number,
): number {
  for (let i = from; i < to; i++) {
    view.setFloat64(at, xy[i * 2]!, true)
    view.setFloat64(at + 8, xy[i * 2 + 1]!, true)
    at += 16
    if (!hasZ) continue
    view.setFloat64(at, z[i]!, true)
    at += 8
  }
  return at
}
