import { type ExactPoint, midpoint, type Scale } from './exact-point.ts'
import {
  BOUNDARY,
  EXTERIOR,
  INTERIOR,
  isLineEnd,
  type Location,
  locate,
  locateInShape,
  sidesOf,
} from './locate.ts'
import { findNodes, type Nodes, RelationBudget, sortAlong } from './nodes.ts'
import type { Chain, PreparedGeometry } from './prepared-geometry.ts'

/**
 * The nine dimensions of DE-9IM, row by row: the interior, boundary and exterior of a against those of b; −1
 * if they do not intersect.
 */
export type Matrix = Int8Array

/**
 * The DE-9IM matrix of two geometries.
 *
 * Every edge is split where it meets the other geometry. Between two splits a piece lies completely in one
 * part of each geometry, so one point of it decides. The pieces give the one-dimensional entries, their ends
 * and the points give the zero-dimensional ones, and what lies to the left and right of pieces of rings gives
 * the two-dimensional ones. All decisions are signs of exact arithmetic. Throws a RelationCostError.
 */
export function relate(
  a: PreparedGeometry,
  b: PreparedGeometry,
  budget: RelationBudget = new RelationBudget(),
): Matrix {
  const matrix = new Int8Array(9).fill(-1)
  matrix[8] = 2
  const scale: Scale = {
    get bits() {
      return Math.max(a.bits, b.bits)
    },
  }
  const onA: Nodes = new Map()
  const onB: Nodes = new Map()
  findNodes(a, b, onA, onB, scale, budget)
  if (a.isMixed) findNodes(a, a, onA, onA, scale, budget)
  if (b.isMixed) findNodes(b, b, onB, onB, scale, budget)
  const record = (inA: Location, inB: Location, dimension: number) => {
    const cell = inA * 3 + inB
    if (matrix[cell]! < dimension) matrix[cell] = dimension
  }
  walk(a, b, onA, scale, record)
  walk(b, a, onB, scale, (inB, inA, dimension) => record(inA, inB, dimension))
  return matrix
}

type Record = (own: Location, other: Location, dimension: number) => void

function walk(own: PreparedGeometry, other: PreparedGeometry, nodes: Nodes, scale: Scale, record: Record) {
  for (const [x, y] of own.points.values()) {
    const p = { x: x!, y: y!, exact: null }
    record(locate(own, p, scale), locate(other, p, scale), 0)
  }
  for (const chain of own.chains) walkChain(own, other, chain, nodes, scale, record)
}

interface Station {
  place: ExactPoint
  /** Whether the point lies on the other geometry's edges (or, in a mixed collection, on more of its own). */
  isNode: boolean
}

function walkChain(
  own: PreparedGeometry,
  other: PreparedGeometry,
  chain: Chain,
  nodes: Nodes,
  scale: Scale,
  record: Record,
): void {
  const isLine = chain.area < 0
  // The last piece's location in the other geometry; the same for the next, unless a node is between.
  let location: Location | null = null
  for (let edge = chain.from; edge < chain.to; edge++) {
    // This edge continues the same piece.
    if (location !== null && !own.isMixed && !nodes.has(edge) && !(isLine && edge === chain.to - 1)) continue
    const stations = stationsOf(own, edge, nodes, scale)
    for (let i = 0; i < stations.length; i++) {
      const station = stations[i]!
      const isEnd = isLine && ((edge === chain.from && i === 0) || (edge === chain.to - 1 && i > 0))
      // A vertex that is neither adds nothing to the adjacent pieces.
      if (station.isNode || isEnd) recordPlace(own, other, isLine, station.place, scale, record)
      if (station.isNode) location = null
      if (i + 1 < stations.length) {
        location = walkPiece(own, other, chain, edge, station, stations[i + 1]!, location, scale, record)
      }
    }
  }
}

/** The start of an edge, the nodes on it, and its end. */
function stationsOf(own: PreparedGeometry, edge: number, nodes: Nodes, scale: Scale): Station[] {
  const { edges } = own
  const at = edge * 4
  const start: Station = { place: { x: edges[at]!, y: edges[at + 1]!, exact: null }, isNode: false }
  const end: Station = { place: { x: edges[at + 2]!, y: edges[at + 3]!, exact: null }, isNode: false }
  const between: Station[] = []
  for (const place of sortAlong(edges, at, nodes.get(edge) ?? [], scale)) {
    if (isSame(place, start.place)) start.isNode = true
    else if (isSame(place, end.place)) end.isNode = true
    else between.push({ place, isNode: true })
  }
  return [start, ...between, end]
}

function isSame(p: ExactPoint, q: ExactPoint): boolean {
  return p.exact === null && q.exact === null && p.x === q.x && p.y === q.y
}

/** Records a piece of an edge and the areas on its sides, and returns its location in the other geometry. */
function walkPiece(
  own: PreparedGeometry,
  other: PreparedGeometry,
  chain: Chain,
  edge: number,
  from: Station,
  to: Station,
  location: Location | null,
  scale: Scale,
  record: Record,
): Location {
  const isRing = chain.area >= 0
  if (own.isMixed || (from.isNode && to.isNode)) {
    const middle = midpoint(from.place, to.place, scale)
    const inOther = locateInShape(other, middle, scale)
    const inOwn = own.isMixed ? locateInShape(own, middle, scale) : isRing ? BOUNDARY : INTERIOR
    record(inOwn, inOther, 1)
    if (isRing) {
      const dx = own.edges[edge * 4 + 2]! - own.edges[edge * 4]!
      const dy = own.edges[edge * 4 + 3]! - own.edges[edge * 4 + 1]!
      const [ownLeft, ownRight] = own.isMixed ? sidesOf(own, middle, dx, dy, scale) : [true, false]
      const [otherLeft, otherRight] = sidesOf(other, middle, dx, dy, scale)
      record(ownLeft ? INTERIOR : EXTERIOR, otherLeft ? INTERIOR : EXTERIOR, 2)
      record(ownRight ? INTERIOR : EXTERIOR, otherRight ? INTERIOR : EXTERIOR, 2)
    }
    return inOther
  }
  if (location !== null) return location
  // A vertex that is not a node is off the other's edges: it locates the piece without exact arithmetic.
  const inOther = locateInShape(other, from.isNode ? to.place : from.place, scale)
  record(isRing ? BOUNDARY : INTERIOR, inOther, 1)
  if (isRing) {
    record(INTERIOR, inOther, 2)
    record(EXTERIOR, inOther, 2)
  }
  return inOther
}

function recordPlace(
  own: PreparedGeometry,
  other: PreparedGeometry,
  isLine: boolean,
  place: ExactPoint,
  scale: Scale,
  record: Record,
): void {
  const onLine = isLineEnd(own, place) ? BOUNDARY : INTERIOR
  const inOwn = own.isMixed ? locate(own, place, scale) : isLine ? onLine : BOUNDARY
  record(inOwn, locate(other, place, scale), 0)
}
