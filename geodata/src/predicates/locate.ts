import { searchEdges } from './edge-tree.ts'
import { exactInteger } from './exact-number.ts'
import { compareCoordinate, type ExactPoint, orientExact, type Scale, scaleOf } from './exact-point.ts'
import { type PreparedGeometry, placeKey } from './prepared-geometry.ts'

/** The three parts into which a geometry divides the plane, in the order of DE-9IM's rows. */
export const INTERIOR = 0
export const BOUNDARY = 1
export const EXTERIOR = 2
export type Location = typeof INTERIOR | typeof BOUNDARY | typeof EXTERIOR

interface AreaHit {
  /** The areal parts whose interior contains the point. */
  inside: Set<number>
  /** The ring edges on which the point lies. */
  on: number[]
}

const nearEdges: number[] = []

/** Where a point lies in a geometry: areas are tested first, then lines, then points. */
export function locate(geometry: PreparedGeometry, p: ExactPoint, scale: Scale): Location {
  const location = locateInShape(geometry, p, scale)
  if (location !== EXTERIOR || p.exact !== null || geometry.points.size === 0) return location
  return geometry.points.has(placeKey(p.x, p.y)) ? INTERIOR : EXTERIOR
}

/** Like `locate`, but ignores the geometry's points; p is one point of a stretch of a line. */
export function locateInShape(geometry: PreparedGeometry, p: ExactPoint, scale: Scale): Location {
  if (geometry.areas > 0) {
    const hit = locateInAreas(geometry, p, scale)
    if (hit.inside.size > 0) return INTERIOR
    if (hit.on.length > 0) return isSurrounded(geometry, hit.on, p, scale) ? INTERIOR : BOUNDARY
  }
  if (!geometry.hasLines) return EXTERIOR
  if (isLineEnd(geometry, p)) return BOUNDARY
  return isOnLine(geometry, p, scale) ? INTERIOR : EXTERIOR
}

/** Whether an odd number of line ends meet at a point. */
export function isLineEnd(geometry: PreparedGeometry, p: ExactPoint): boolean {
  return p.exact === null && (geometry.lineEnds.get(placeKey(p.x, p.y)) ?? 0) % 2 === 1
}

/**
 * Whether the areas of a geometry lie to the left and to the right of a directed stretch, of which p is a
 * point that no edge crosses.
 */
export function sidesOf(
  geometry: PreparedGeometry,
  p: ExactPoint,
  dx: number,
  dy: number,
  scale: Scale,
): [left: boolean, right: boolean] {
  if (geometry.areas === 0) return [false, false]
  const hit = locateInAreas(geometry, p, scale)
  if (hit.inside.size > 0) return [true, true]
  let left = false
  let right = false
  for (const edge of hit.on) {
    const { edges } = geometry
    const sameX = Math.sign(edges[edge * 4 + 2]! - edges[edge * 4]!) === Math.sign(dx)
    const sameY = Math.sign(edges[edge * 4 + 3]! - edges[edge * 4 + 1]!) === Math.sign(dy)
    if (sameX && sameY) left = true
    else right = true
  }
  return [left, right]
}

/** Casts a ray eastward and counts the edges that it crosses. */
function locateInAreas(geometry: PreparedGeometry, p: ExactPoint, scale: Scale): AreaHit {
  const inside = new Set<number>()
  const on: number[] = []
  if (isOutside(geometry, p)) return { inside, on }
  const { edges, chains, chainOf } = geometry
  const slack = p.exact === null ? 0 : 1e-13
  searchEdges(
    geometry.tree,
    edges,
    p.x - slack * Math.abs(p.x),
    p.y - slack * Math.abs(p.y),
    Infinity,
    p.y + slack * Math.abs(p.y),
    nearEdges,
  )
  for (const edge of nearEdges) {
    const { area } = chains[chainOf[edge]!]!
    if (area < 0) continue
    const crossed = crossesRay(edges, edge * 4, p, scale)
    if (crossed === 'on') on.push(edge)
    else if (crossed) {
      if (inside.has(area)) inside.delete(area)
      else inside.add(area)
    }
  }
  for (const edge of on) inside.delete(chains[chainOf[edge]!]!.area)
  return { inside, on }
}

function isOutside(geometry: PreparedGeometry, p: ExactPoint): boolean {
  const slack = p.exact === null ? 0 : 1e-13
  const marginX = slack * Math.abs(p.x)
  const marginY = slack * Math.abs(p.y)
  return (
    p.x + marginX < geometry.west ||
    p.x - marginX > geometry.east ||
    p.y + marginY < geometry.south ||
    p.y - marginY > geometry.north
  )
}

function crossesRay(edges: Float64Array, at: number, p: ExactPoint, scale: Scale): boolean | 'on' {
  const x0 = edges[at]!
  const y0 = edges[at + 1]!
  const x1 = edges[at + 2]!
  const y1 = edges[at + 3]!
  const start = compareCoordinate(y0, p, 1, scale)
  const end = compareCoordinate(y1, p, 1, scale)
  if (start === 0 && end === 0) {
    const left = compareCoordinate(Math.min(x0, x1), p, 0, scale)
    const right = compareCoordinate(Math.max(x0, x1), p, 0, scale)
    return left <= 0 && right >= 0 ? 'on' : false
  }
  if (start === 0 && compareCoordinate(x0, p, 0, scale) === 0) return 'on'
  if (end === 0 && compareCoordinate(x1, p, 0, scale) === 0) return 'on'
  if (start > 0 === end > 0) return false
  const side = end > 0 ? orientExact(x0, y0, x1, y1, p, scale) : orientExact(x1, y1, x0, y0, p, scale)
  return side === 0 ? 'on' : side > 0
}

function isOnLine(geometry: PreparedGeometry, p: ExactPoint, scale: Scale): boolean {
  if (isOutside(geometry, p)) return false
  const { edges, chains, chainOf, tree } = geometry
  const slack = p.exact === null ? 0 : 1e-13
  const marginX = slack * Math.abs(p.x)
  const marginY = slack * Math.abs(p.y)
  searchEdges(tree, edges, p.x - marginX, p.y - marginY, p.x + marginX, p.y + marginY, nearEdges)
  return nearEdges.some((edge) => chains[chainOf[edge]!]!.area < 0 && isOnEdge(edges, edge * 4, p, scale))
}

function isOnEdge(edges: Float64Array, at: number, p: ExactPoint, scale: Scale): boolean {
  const x0 = edges[at]!
  const y0 = edges[at + 1]!
  const x1 = edges[at + 2]!
  const y1 = edges[at + 3]!
  return (
    orientExact(x0, y0, x1, y1, p, scale) === 0 &&
    compareCoordinate(Math.min(x0, x1), p, 0, scale) <= 0 &&
    compareCoordinate(Math.max(x0, x1), p, 0, scale) >= 0 &&
    compareCoordinate(Math.min(y0, y1), p, 1, scale) <= 0 &&
    compareCoordinate(Math.max(y0, y1), p, 1, scale) >= 0
  )
}

interface Spoke {
  dx: bigint
  dy: bigint
  area: number
  /** Whether the area lies on the counterclockwise side of the spoke. */
  opens: boolean
}

/**
 * Whether the areas of a collection that meet at a point leave no gap around it. The point is then in the
 * interior of the collection, although it is on the boundary of each part. The edges are sorted by angle, and
 * each sector between two of them must belong to some area.
 */
function isSurrounded(geometry: PreparedGeometry, on: number[], p: ExactPoint, scale: Scale): boolean {
  const areas = new Set(on.map((edge) => geometry.chains[geometry.chainOf[edge]!]!.area))
  if (areas.size < 2) return false
  const unit = scaleOf(...on.map((edge) => geometry.edges.subarray(edge * 4, edge * 4 + 4)))
  const spokes = on.flatMap((edge) => spokesAt(geometry, edge, p, scale, unit)).sort(byAngle)
  const open = new Set<number>()
  // The first pass only determines which areas span the start of the sorted list.
  for (const spoke of spokes) turn(open, spoke)
  for (let i = 0; i < spokes.length; i++) {
    turn(open, spokes[i]!)
    const next = spokes[(i + 1) % spokes.length]!
    if (open.size === 0 && byAngle(spokes[i]!, next) !== 0) return false
  }
  return true
}

function turn(open: Set<number>, spoke: Spoke): void {
  if (spoke.opens) open.add(spoke.area)
  else open.delete(spoke.area)
}

function spokesAt(
  geometry: PreparedGeometry,
  edge: number,
  p: ExactPoint,
  scale: Scale,
  unit: Scale,
): Spoke[] {
  const { edges } = geometry
  const [x0, y0, x1, y1] = edges.subarray(edge * 4, edge * 4 + 4)
  const { area } = geometry.chains[geometry.chainOf[edge]!]!
  const dx = exactInteger(x1!, unit.bits) - exactInteger(x0!, unit.bits)
  const dy = exactInteger(y1!, unit.bits) - exactInteger(y0!, unit.bits)
  const isAt = (x: number, y: number) =>
    compareCoordinate(x, p, 0, scale) === 0 && compareCoordinate(y, p, 1, scale) === 0
  const forward: Spoke = { dx, dy, area, opens: true }
  const backward: Spoke = { dx: -dx, dy: -dy, area, opens: false }
  if (isAt(x0!, y0!)) return [forward]
  if (isAt(x1!, y1!)) return [backward]
  return [forward, backward]
}

function byAngle(a: Spoke, b: Spoke): number {
  const half = upperHalf(b) - upperHalf(a)
  if (half !== 0) return half
  const cross = a.dx * b.dy - a.dy * b.dx
  return cross > 0n ? -1 : cross < 0n ? 1 : 0
}

function upperHalf({ dx, dy }: Spoke): number {
  return dy > 0n || (dy === 0n && dx > 0n) ? 1 : 0
}
