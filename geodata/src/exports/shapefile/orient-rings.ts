import type { FlatGeometry } from '../geometry/flat-geometry.ts'

/**
 * Winds a polygon's rings as a shapefile requires: outer rings clockwise and holes counter-clockwise, the
 * reverse of GeoJSON. A ring without area has no winding, and readers would treat it as a hole of another
 * polygon, so it is left out unless no ring has an area. Returns the number of rings left out.
 */
export function orientRings(geometry: FlatGeometry): number {
  const { xy, z, rings, parts } = geometry
  let [points, ringCount, partCount, start] = [0, 0, 0, 0]
  let leftOut = 0
  if (!anyArea(geometry)) return 0
  for (let part = 0, ring = 0; part < geometry.partCount; part++) {
    const first = ring
    let outerLeftOut = false
    for (; ring < parts[part]!; ring++) {
      const end = rings[ring]!
      const area = doubleArea(xy, start, end)
      if (ring === first) outerLeftOut = area === 0
      if (area === 0 || outerLeftOut) leftOut++
      else {
        if (ring === first ? area > 0 : area < 0) reverse(geometry, start, end)
        xy.copyWithin(points * 2, start * 2, end * 2)
        z.copyWithin(points, start, end)
        points += end - start
        rings[ringCount++] = points
      }
      start = end
    }
    parts[partCount++] = ringCount
  }
  geometry.points = points
  geometry.ringCount = ringCount
  geometry.partCount = partCount
  return leftOut
}

function anyArea({ xy, rings, ringCount }: FlatGeometry): boolean {
  for (let ring = 0, start = 0; ring < ringCount; start = rings[ring++]!) {
    if (doubleArea(xy, start, rings[ring]!) !== 0) return true
  }
  return false
}

function reverse({ xy, z }: FlatGeometry, start: number, end: number): void {
  for (let a = start, b = end - 1; a < b; a++, b--) {
    const [x, y, height] = [xy[a * 2]!, xy[a * 2 + 1]!, z[a]!]
    xy[a * 2] = xy[b * 2]!
    xy[a * 2 + 1] = xy[b * 2 + 1]!
    z[a] = z[b]!
    xy[b * 2] = x
    xy[b * 2 + 1] = y
    z[b] = height
  }
}

/** Positive if the ring is counter-clockwise. Computed relative to its first point, to preserve precision. */
function doubleArea(xy: Float64Array, start: number, end: number): number {
  const x0 = xy[start * 2]!
  const y0 = xy[start * 2 + 1]!
  let area = 0
  for (let i = start + 1; i < end - 1; i++) {
    const ax = xy[i * 2]! - x0
    const ay = xy[i * 2 + 1]! - y0
    const bx = xy[i * 2 + 2]! - x0
    const by = xy[i * 2 + 3]! - y0
    area += ax * by - ay * bx
  }
  return area
}
