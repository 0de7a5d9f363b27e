import type { Position } from '../../feature.ts'

/**
 * Groups the rings of a shapefile's polygon, which is an unordered list: outer rings are clockwise, holes
 * counter-clockwise. Each hole belongs to the smallest outer ring that contains it.
 */
export function groupRings(rings: Position[][]): Position[][][] {
  if (rings.length < 2) return rings.length === 0 ? [] : [rings]
  const measured = rings.map((ring, order) => ({ ring, order, area: signedArea(ring), box: boxOf(ring) }))
  let outers = measured.filter(({ area }) => area < 0)
  let holes = measured.filter(({ area }) => area >= 0)
  // In files that ignore the winding, a ring inside an odd number of others is a hole.
  if (outers.length === 0) {
    const isHole = (one: Measured) =>
      measured.filter((other) => other !== one && contains(other, one)).length % 2 === 1
    holes = measured.filter(isHole)
    outers = measured.filter((one) => !holes.includes(one))
  }
  const polygons = new Map(outers.map((outer) => [outer, [outer.ring]]))
  for (const hole of holes) {
    const around = outers.length === 1 ? outers[0] : smallestAround(outers, hole)
    const polygon = around && polygons.get(around)
    if (polygon) polygon.push(hole.ring)
    else polygons.set(hole, [hole.ring])
  }
  return [...polygons.entries()].sort(([a], [b]) => a.order - b.order).map(([, polygon]) => polygon)
}

interface Measured {
  ring: Position[]
  order: number
  /** Negative if the ring is clockwise. */
  area: number
  box: [number, number, number, number]
}

function smallestAround(outers: Measured[], hole: Measured): Measured | undefined {
  let smallest: Measured | undefined
  for (const outer of outers) {
    if ((!smallest || Math.abs(outer.area) < Math.abs(smallest.area)) && contains(outer, hole))
      smallest = outer
  }
  return smallest
}

function signedArea(ring: Position[]): number {
  // Relative to the first vertex, so that small rings keep their precision at large coordinates.
  const [x0, y0] = ring[0] ?? [0, 0]
  let sum = 0
  for (let i = 1; i < ring.length; i++) {
    const [ax, ay] = ring[i - 1]!
    const [bx, by] = ring[i]!
    sum += (ax! - x0!) * (by! - y0!) - (bx! - x0!) * (ay! - y0!)
  }
  return sum / 2
}

function boxOf(ring: Position[]): [number, number, number, number] {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of ring) {
    if (x! < west) west = x!
    if (x! > east) east = x!
    if (y! < south) south = y!
    if (y! > north) north = y!
  }
  return [west, south, east, north]
}

/** Whether a ring is inside another that it may touch but not cross: any vertex off the edge decides. */
function contains(outer: Measured, inner: Measured): boolean {
  const [west, south, east, north] = outer.box
  if (inner.box[0] < west || inner.box[1] < south || inner.box[2] > east || inner.box[3] > north) return false
  for (const [x, y] of inner.ring) {
    const side = sideOf(outer.ring, x!, y!)
    if (side !== 0) return side > 0
  }
  const [[ax, ay], [bx, by]] = [inner.ring[0] ?? [0, 0], inner.ring[1] ?? [0, 0]]
  return sideOf(outer.ring, (ax! + bx!) / 2, (ay! + by!) / 2) >= 0
}

/** 1 inside, -1 outside, 0 on the edge. */
function sideOf(ring: Position[], x: number, y: number): number {
  let inside = false
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [ax, ay] = ring[i]! as [number, number]
    const [bx, by] = ring[j]! as [number, number]
    const cross = (bx - ax) * (y - ay) - (x - ax) * (by - ay)
    if (
      cross === 0 &&
      x >= Math.min(ax, bx) &&
      x <= Math.max(ax, bx) &&
      y >= Math.min(ay, by) &&
      y <= Math.max(ay, by)
    )
      return 0
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
  }
  return inside ? 1 : -1
}
