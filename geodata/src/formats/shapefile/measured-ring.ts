import type { Position } from '../../feature.ts'
import { buildEdgeTree, type EdgeTree, searchEdges } from '../../predicates/edge-tree.ts'

/** A tree over the edges costs as much as a few searches without one. */
const SEARCHES_BEFORE_TREE = 3

/** A ring with its signed area and bounding box, that can tell whether it contains other rings. */
export class MeasuredRing {
  readonly ring: Position[]
  /** Its place in the shape. */
  readonly order: number
  /** Negative if the ring is clockwise. */
  readonly area: number
  readonly #west: number
  readonly #south: number
  readonly #east: number
  readonly #north: number
  #searches = 0
  #tree: { edges: Float64Array; tree: EdgeTree } | null = null

  constructor(ring: Position[], order: number) {
    this.ring = ring
    this.order = order
    this.area = signedArea(ring)
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
    for (const [x, y] of ring) {
      if (x! < west) west = x!
      if (x! > east) east = x!
      if (y! < south) south = y!
      if (y! > north) north = y!
    }
    this.#west = west
    this.#south = south
    this.#east = east
    this.#north = north
  }

  /** Whether a ring that may touch this one but not cross it is inside: a vertex off the edge decides. */
  contains(inner: MeasuredRing): boolean {
    if (inner.#west < this.#west || inner.#south < this.#south) return false
    if (inner.#east > this.#east || inner.#north > this.#north) return false
    for (const [x, y] of inner.ring) {
      const side = this.#sideOf(x!, y!)
      if (side !== 0) return side > 0
    }
    const [[ax, ay], [bx, by]] = [inner.ring[0] ?? [0, 0], inner.ring[1] ?? [0, 0]]
    return this.#sideOf((ax! + bx!) / 2, (ay! + by!) / 2) >= 0
  }

  /** 1 inside, -1 outside, 0 on the edge. */
  #sideOf(x: number, y: number): number {
    if (++this.#searches > SEARCHES_BEFORE_TREE) return this.#sideByTree(x, y)
    const { ring } = this
    let isInside = false
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const crossing = crosses(ring[i]![0]!, ring[i]![1]!, ring[j]![0]!, ring[j]![1]!, x, y)
      if (crossing === 0) return 0
      if (crossing > 0) isInside = !isInside
    }
    return isInside ? 1 : -1
  }

  #sideByTree(x: number, y: number): number {
    this.#tree ??= treeOf(this.ring)
    const { edges, tree } = this.#tree
    const near: number[] = []
    searchEdges(tree, edges, x, y, this.#east, y, near)
    let isInside = false
    for (const edge of near) {
      const at = edge * 4
      const crossing = crosses(edges[at]!, edges[at + 1]!, edges[at + 2]!, edges[at + 3]!, x, y)
      if (crossing === 0) return 0
      if (crossing > 0) isInside = !isInside
    }
    return isInside ? 1 : -1
  }
}

/** 1 if the ray from the position to the east crosses the edge, 0 if the position is on it, else -1. */
function crosses(ax: number, ay: number, bx: number, by: number, x: number, y: number): number {
  const isBetween =
    x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by)
  if (isBetween && (bx - ax) * (y - ay) - (x - ax) * (by - ay) === 0) return 0
  return ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax ? 1 : -1
}

function treeOf(ring: Position[]): { edges: Float64Array; tree: EdgeTree } {
  const edges = new Float64Array(ring.length * 4)
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++)
    edges.set([ring[i]![0]!, ring[i]![1]!, ring[j]![0]!, ring[j]![1]!], i * 4)
  return { edges, tree: buildEdgeTree(edges) }
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
