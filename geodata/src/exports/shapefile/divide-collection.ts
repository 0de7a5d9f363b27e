import { FlatGeometry } from '../geometry/flat-geometry.ts'
import {
  LINE_STRING,
  MULTI_LINE_STRING,
  MULTI_POINT,
  MULTI_POLYGON,
  POINT,
} from '../geometry/geometry-bytes.ts'
import type { Family } from './shp-writer.ts'

export function familyOf(code: number): Family {
  if (code === POINT || code === MULTI_POINT) return 'point'
  return code === LINE_STRING || code === MULTI_LINE_STRING ? 'line' : 'polygon'
}

const MULTI_CODES: { [family in Family]: number } = {
  point: MULTI_POINT,
  line: MULTI_LINE_STRING,
  polygon: MULTI_POLYGON,
}

/** Splits a collection into one geometry per family, because a shapefile cannot represent a collection. */
export function divideCollection(collection: FlatGeometry): Map<Family, FlatGeometry> {
  const shapes = new Map<Family, FlatGeometry>()
  for (const leaf of collection.leaves()) {
    if (leaf.points === 0) continue
    const family = familyOf(leaf.code)
    let shape = shapes.get(family)
    if (!shape) {
      shape = new FlatGeometry()
      shape.code = MULTI_CODES[family]
      shapes.set(family, shape)
    }
    append(shape, leaf)
  }
  return shapes
}

function append(shape: FlatGeometry, leaf: FlatGeometry): void {
  const { points, ringCount, partCount } = shape
  const xy = new Float64Array((points + leaf.points) * 2)
  xy.set(shape.xy.subarray(0, points * 2))
  xy.set(leaf.xy.subarray(0, leaf.points * 2), points * 2)
  const z = new Float64Array(points + leaf.points)
  z.set(shape.z.subarray(0, points))
  z.set(leaf.z.subarray(0, leaf.points), points)
  const rings = new Int32Array(ringCount + leaf.ringCount)
  rings.set(shape.rings.subarray(0, ringCount))
  for (let i = 0; i < leaf.ringCount; i++) rings[ringCount + i] = leaf.rings[i]! + points
  const parts = new Int32Array(partCount + leaf.partCount)
  parts.set(shape.parts.subarray(0, partCount))
  for (let i = 0; i < leaf.partCount; i++) parts[partCount + i] = leaf.parts[i]! + ringCount
  Object.assign(shape, { xy, z, rings, parts })
  shape.points += leaf.points
  shape.ringCount += leaf.ringCount
  shape.partCount += leaf.partCount
  shape.hasZ ||= leaf.hasZ
  shape.west = Math.min(shape.west, leaf.west)
  shape.south = Math.min(shape.south, leaf.south)
  shape.east = Math.max(shape.east, leaf.east)
  shape.north = Math.max(shape.north, leaf.north)
}
