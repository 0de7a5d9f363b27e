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
  new Walk(a, b, onA, scale, record).all()
  new Walk(b, a, onB, scale, (inB, inA, dimension) => record(inA, inB, dimension)).all()
  return matrix
}

type Record = (own: Location, other: Location, dimension: number) => void

interface Station {
  place: ExactPoint
  /** Whether the point lies on the other geometry's edges (or, in a mixed collection, on more of its own). */
  isNode: boolean
}

/** Walks the points and edges of one geometry, and records where they lie in both. */
class Walk {
  readonly #own: PreparedGeometry
  readonly #other: PreparedGeometry
  readonly #nodes: Nodes
  readonly #scale: Scale
  readonly #record: Record

  constructor(own: PreparedGeometry, other: PreparedGeometry, nodes: Nodes, scale: Scale, record: Record) {
    this.#own = own
    this.#other = other
    this.#nodes = nodes
    this.#scale = scale
    this.#record = record
  }

  all(): void {
    for (const [x, y] of this.#own.points.values()) {
      const p = { x: x!, y: y!, exact: null }
      this.#record(locate(this.#own, p, this.#scale), locate(this.#other, p, this.#scale), 0)
    }
    for (const chain of this.#own.chains) this.#chain(chain)
  }

  #chain(chain: Chain): void {
    const isLine = chain.area < 0
    // The last piece's location in the other geometry; the same for the next, unless a node is between.
    let location: Location | null = null
    for (let edge = chain.from; edge < chain.to; edge++) {
      const isLast = isLine && edge === chain.to - 1
      // This edge continues the same piece.
      if (location !== null && !this.#own.isMixed && !this.#nodes.has(edge) && !isLast) continue
      const stations = stationsOf(this.#own, edge, this.#nodes, this.#scale)
      for (let i = 0; i < stations.length; i++) {
        const station = stations[i]!
        const isEnd = isLine && ((edge === chain.from && i === 0) || (edge === chain.to - 1 && i > 0))
        // A vertex that is neither adds nothing to the adjacent pieces.
        if (station.isNode || isEnd) this.#place(isLine, station.place)
        if (station.isNode) location = null
        if (i + 1 < stations.length) location = this.#piece(edge, station, stations[i + 1]!, isLine, location)
      }
    }
  }

  #place(isLine: boolean, place: ExactPoint): void {
    const own = this.#own
    const onLine = isLineEnd(own, place) ? BOUNDARY : INTERIOR
    const inOwn = own.isMixed ? locate(own, place, this.#scale) : isLine ? onLine : BOUNDARY
    this.#record(inOwn, locate(this.#other, place, this.#scale), 0)
  }

  /**
   * Records a piece of an edge and the areas on its sides, and returns its location in the other geometry. The
   * location is known if no node is between this piece and the last one.
   */
  #piece(edge: number, from: Station, to: Station, isLine: boolean, location: Location | null): Location {
    if (this.#own.isMixed || (from.isNode && to.isNode))
      return this.#pieceByMiddle(edge, midpoint(from.place, to.place, this.#scale), isLine)
    if (location !== null) return location
    // A vertex that is not a node is off the other's edges: it locates the piece without exact arithmetic.
    const inOther = locateInShape(this.#other, from.isNode ? to.place : from.place, this.#scale)
    this.#record(isLine ? INTERIOR : BOUNDARY, inOther, 1)
    if (!isLine) {
      this.#record(INTERIOR, inOther, 2)
      this.#record(EXTERIOR, inOther, 2)
    }
    return inOther
  }

  /** The same for a piece that may lie on an edge of the other geometry: its middle decides. */
  #pieceByMiddle(edge: number, middle: ExactPoint, isLine: boolean): Location {
    const own = this.#own
    const inOther = locateInShape(this.#other, middle, this.#scale)
    const inOwn = own.isMixed ? locateInShape(own, middle, this.#scale) : isLine ? INTERIOR : BOUNDARY
    this.#record(inOwn, inOther, 1)
    if (!isLine) {
      const dx = own.edges[edge * 4 + 2]! - own.edges[edge * 4]!
      const dy = own.edges[edge * 4 + 3]! - own.edges[edge * 4 + 1]!
      const [ownLeft, ownRight] = own.isMixed ? sidesOf(own, middle, dx, dy, this.#scale) : [true, false]
      const [otherLeft, otherRight] = sidesOf(this.#other, middle, dx, dy, this.#scale)
      this.#record(ownLeft ? INTERIOR : EXTERIOR, otherLeft ? INTERIOR : EXTERIOR, 2)
      this.#record(ownRight ? INTERIOR : EXTERIOR, otherRight ? INTERIOR : EXTERIOR, 2)
    }
    return inOther
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
