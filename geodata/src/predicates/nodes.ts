import { searchEdges } from './edge-tree.ts'
import { compareAlong, crossing, type ExactPoint, type Scale } from './exact-point.ts'
import { orient2d } from './orient2d.ts'
import type { PreparedGeometry } from './prepared-geometry.ts'

/** The points on an edge, by edge number, where another edge crosses, touches or starts to overlap it. */
export type Nodes = Map<number, ExactPoint[]>

/** Two geometries meet in so many points that their relation would take too long. */
export class RelationCostError extends Error {
  override name = 'RelationCostError'
}

/** Each takes 50 to 200 µs of exact arithmetic. */
const MAX_POINTS = 1000
const PAIRS_PER_POINT = 1000

/**
 * What may be spent on a relation, which nothing can interrupt: by default 1,000 points where the geometries meet,
 * or a million pairs of edges that are near each other.
 */
export class RelationBudget {
  #left: number

  constructor(points = MAX_POINTS) {
    this.#left = points * PAIRS_PER_POINT
  }

  spend(pairs: number, points: number): void {
    this.#left -= pairs + points * PAIRS_PER_POINT
    if (this.#left < 0) throw new RelationCostError('The two geometries meet in too many points.')
  }
}

/** Finds where the edges of two geometries intersect and records the points on both. */
export function findNodes(
  a: PreparedGeometry,
  b: PreparedGeometry,
  onA: Nodes,
  onB: Nodes,
  scale: Scale,
  budget: RelationBudget,
): void {
  const nearEdges: number[] = []
  const { edges } = a
  for (let edge = 0; edge * 4 < edges.length; edge++) {
    const at = edge * 4
    const west = Math.min(edges[at]!, edges[at + 2]!)
    const south = Math.min(edges[at + 1]!, edges[at + 3]!)
    const east = Math.max(edges[at]!, edges[at + 2]!)
    const north = Math.max(edges[at + 1]!, edges[at + 3]!)
    if (west > b.east || south > b.north || east < b.west || north < b.south) continue
    searchEdges(b.tree, b.edges, west, south, east, north, nearEdges)
    budget.spend(nearEdges.length, 0)
    for (const other of nearEdges) {
      if (a === b && edge === other) continue
      budget.spend(0, meet(a.edges, edge, b.edges, other, onA, onB, scale))
    }
  }
}

/** Returns the number of points where two edges meet: a stretch that they share counts as one. */
function meet(
  a: Float64Array,
  edgeA: number,
  b: Float64Array,
  edgeB: number,
  onA: Nodes,
  onB: Nodes,
  scale: Scale,
): number {
  const i = edgeA * 4
  const j = edgeB * 4
  const b0 = orient2d(a[i]!, a[i + 1]!, a[i + 2]!, a[i + 3]!, b[j]!, b[j + 1]!)
  const b1 = orient2d(a[i]!, a[i + 1]!, a[i + 2]!, a[i + 3]!, b[j + 2]!, b[j + 3]!)
  if ((b0 > 0 && b1 > 0) || (b0 < 0 && b1 < 0)) return 0
  const a0 = orient2d(b[j]!, b[j + 1]!, b[j + 2]!, b[j + 3]!, a[i]!, a[i + 1]!)
  const a1 = orient2d(b[j]!, b[j + 1]!, b[j + 2]!, b[j + 3]!, a[i + 2]!, a[i + 3]!)
  if ((a0 > 0 && a1 > 0) || (a0 < 0 && a1 < 0)) return 0
  if (b0 !== 0 && b1 !== 0 && a0 !== 0 && a1 !== 0) {
    note(crossing(a, i, b, j, scale), edgeA, edgeB, onA, onB)
    return 1
  }
  let points = 0
  const noteEnd = (ends: Float64Array, at: number) => {
    note({ x: ends[at]!, y: ends[at + 1]!, exact: null }, edgeA, edgeB, onA, onB)
    points = 1
  }
  if (b0 === 0 && isWithinBox(a, i, b[j]!, b[j + 1]!)) noteEnd(b, j)
  if (b1 === 0 && isWithinBox(a, i, b[j + 2]!, b[j + 3]!)) noteEnd(b, j + 2)
  if (a0 === 0 && isWithinBox(b, j, a[i]!, a[i + 1]!)) noteEnd(a, i)
  if (a1 === 0 && isWithinBox(b, j, a[i + 2]!, a[i + 3]!)) noteEnd(a, i + 2)
  return points
}

function note(place: ExactPoint, edgeA: number, edgeB: number, onA: Nodes, onB: Nodes): void {
  push(onA, edgeA, place)
  push(onB, edgeB, place)
}

function push(nodes: Nodes, edge: number, place: ExactPoint): void {
  const list = nodes.get(edge)
  if (list === undefined) nodes.set(edge, [place])
  else list.push(place)
}

function isWithinBox(edges: Float64Array, at: number, x: number, y: number): boolean {
  const x0 = edges[at]!
  const y0 = edges[at + 1]!
  const x1 = edges[at + 2]!
  const y1 = edges[at + 3]!
  return x >= Math.min(x0, x1) && x <= Math.max(x0, x1) && y >= Math.min(y0, y1) && y <= Math.max(y0, y1)
}

/** Whether two edges share any point, including their ends. */
export function edgesMeet(a: Float64Array, i: number, b: Float64Array, j: number): boolean {
  const b0 = orient2d(a[i]!, a[i + 1]!, a[i + 2]!, a[i + 3]!, b[j]!, b[j + 1]!)
  const b1 = orient2d(a[i]!, a[i + 1]!, a[i + 2]!, a[i + 3]!, b[j + 2]!, b[j + 3]!)
  if ((b0 > 0 && b1 > 0) || (b0 < 0 && b1 < 0)) return false
  const a0 = orient2d(b[j]!, b[j + 1]!, b[j + 2]!, b[j + 3]!, a[i]!, a[i + 1]!)
  const a1 = orient2d(b[j]!, b[j + 1]!, b[j + 2]!, b[j + 3]!, a[i + 2]!, a[i + 3]!)
  if ((a0 > 0 && a1 > 0) || (a0 < 0 && a1 < 0)) return false
  if (b0 !== 0 || b1 !== 0) return true
  // All collinear: they intersect if their boxes do.
  return (
    isWithinBox(a, i, b[j]!, b[j + 1]!) ||
    isWithinBox(a, i, b[j + 2]!, b[j + 3]!) ||
    isWithinBox(b, j, a[i]!, a[i + 1]!)
  )
}

/** The nodes of an edge in order along it, without duplicates. */
export function sortAlong(edges: Float64Array, at: number, nodes: ExactPoint[], scale: Scale): ExactPoint[] {
  if (nodes.length < 2) return nodes
  const dx = edges[at + 2]! - edges[at]!
  const dy = edges[at + 3]! - edges[at + 1]!
  const axis = Math.abs(dx) >= Math.abs(dy) ? 0 : 1
  const direction = Math.sign(axis === 0 ? dx : dy)
  const sorted = nodes.toSorted((p, q) => direction * compareAlong(p, q, axis, scale))
  return sorted.filter((p, i) => i === 0 || compareAlong(p, sorted[i - 1]!, axis, scale) !== 0)
}
