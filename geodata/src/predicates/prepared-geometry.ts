import { assertNever } from '../assert-never.ts'
import type { Geometry, Position } from '../feature.ts'
import { buildEdgeTree, type EdgeTree } from './edge-tree.ts'
import { scaleOf } from './exact-point.ts'
import { orient2d } from './orient2d.ts'

/** A ring or line: the consecutive edges from `from` to `to` (exclusive). */
export interface Chain {
  from: number
  to: number
  /** The areal part of a collection that the ring belongs to; −1 for a line. */
  area: number
}

/**
 * A geometry split up for exact tests: its points, and the edges of its lines and rings with a tree over
 * them. Rings have the interior on their left; edges without length are left out.
 */
export interface PreparedGeometry {
  geometry: Geometry
  isEmpty: boolean
  /** The highest dimension of its parts; −1 if it is empty. */
  dimension: -1 | 0 | 1 | 2
  west: number
  south: number
  east: number
  north: number
  edges: Float64Array
  /** The number of binary places that the edges' coordinates need. */
  readonly bits: number
  chains: Chain[]
  /** The chain of each edge. */
  chainOf: Uint32Array
  tree: EdgeTree
  /** The number of areal parts that may overlap each other: more than one only in a collection. */
  areas: number
  hasLines: boolean
  /** Areas with lines or other areas, so that a part's boundary may be in the interior of the whole. */
  isMixed: boolean
  points: Map<string, Position>
  /** The number of line ends that meet at a point; an odd number makes it a boundary point. */
  lineEnds: Map<string, number>
}

export function placeKey(x: number, y: number): string {
  return `${x + 0} ${y + 0}`
}

export function prepare(geometry: Geometry): PreparedGeometry {
  const parts: Parts = { coordinates: [], chains: [], areas: 0, points: new Map(), lineEnds: new Map() }
  addGeometry(geometry, parts)
  const edges = Float64Array.from(parts.coordinates)
  const chainOf = new Uint32Array(edges.length / 4)
  parts.chains.forEach((chain, index) => {
    chainOf.fill(index, chain.from, chain.to)
  })
  const hasLines = parts.chains.some((chain) => chain.area < 0)
  const hasAreas = parts.chains.some((chain) => chain.area >= 0)
  const isEmpty = edges.length === 0 && parts.points.size === 0
  let bits = -1
  return {
    geometry,
    isEmpty,
    dimension: hasAreas ? 2 : hasLines ? 1 : isEmpty ? -1 : 0,
    ...extent(edges, parts.points),
    edges,
    get bits() {
      // Computed lazily, because most tests never need exact arithmetic.
      if (bits < 0) bits = scaleOf(edges).bits
      return bits
    },
    chains: parts.chains,
    chainOf,
    tree: buildEdgeTree(edges),
    areas: parts.areas,
    hasLines,
    isMixed: parts.areas > 1 || (hasAreas && hasLines),
    points: parts.points,
    lineEnds: parts.lineEnds,
  }
}

interface Parts {
  coordinates: number[]
  chains: Chain[]
  areas: number
  points: Map<string, Position>
  lineEnds: Map<string, number>
}

function addGeometry(geometry: Geometry, parts: Parts): void {
  switch (geometry.type) {
    case 'Point':
      addPoint(geometry.coordinates, parts)
      break
    case 'MultiPoint':
      for (const point of geometry.coordinates) addPoint(point, parts)
      break
    case 'LineString':
      addLine(geometry.coordinates, parts)
      break
    case 'MultiLineString':
      for (const line of geometry.coordinates) addLine(line, parts)
      break
    case 'Polygon':
      addArea([geometry.coordinates], parts)
      break
    case 'MultiPolygon':
      addArea(geometry.coordinates, parts)
      break
    case 'GeometryCollection':
      for (const member of geometry.geometries) addGeometry(member, parts)
      break
    default:
      assertNever(geometry)
  }
}

function addPoint(point: Position, { points }: Parts): void {
  if (point.length >= 2) points.set(placeKey(point[0]!, point[1]!), point)
}

function addLine(line: Position[], parts: Parts): void {
  if (line.length === 0) return
  const from = parts.coordinates.length / 4
  addEdges(line, parts)
  const to = parts.coordinates.length / 4
  if (from === to) {
    // A line without length counts as a point.
    addPoint(line[0]!, parts)
    return
  }
  parts.chains.push({ from, to, area: -1 })
  for (const end of [line[0]!, line.at(-1)!]) {
    const key = placeKey(end[0]!, end[1]!)
    parts.lineEnds.set(key, (parts.lineEnds.get(key) ?? 0) + 1)
  }
}

function addArea(polygons: Position[][][], parts: Parts): void {
  const before = parts.chains.length
  for (const rings of polygons) {
    rings.forEach((ring, index) => {
      const from = parts.coordinates.length / 4
      const counterclockwise = isCounterclockwise(ring)
      const isShell = index === 0
      addEdges(counterclockwise === isShell ? closed(ring) : closed(ring).reverse(), parts)
      const to = parts.coordinates.length / 4
      if (to > from) parts.chains.push({ from, to, area: parts.areas })
    })
  }
  if (parts.chains.length > before) parts.areas++
}

function addEdges(line: Position[], { coordinates }: Parts): void {
  if (line.length === 0) return
  let x0 = line[0]![0]!
  let y0 = line[0]![1]!
  for (let i = 1; i < line.length; i++) {
    const position = line[i]!
    const x1 = position[0]!
    const y1 = position[1]!
    if (x0 !== x1 || y0 !== y1) coordinates.push(x0, y0, x1, y1)
    x0 = x1
    y0 = y1
  }
}

function closed(ring: Position[]): Position[] {
  const first = ring[0]
  const last = ring.at(-1)
  if (first === undefined || last === undefined) return []
  return first[0] === last[0] && first[1] === last[1] ? [...ring] : [...ring, first]
}

/** Determined at the lowest, leftmost vertex, where the turn of a ring always equals its winding. */
function isCounterclockwise(ring: Position[]): boolean {
  let lowest = 0
  let lowX = Infinity
  let lowY = Infinity
  for (let i = 0; i < ring.length; i++) {
    const position = ring[i]!
    const x = position[0]!
    const y = position[1]!
    if (y < lowY || (y === lowY && x < lowX)) {
      lowest = i
      lowX = x
      lowY = y
    }
  }
  const at = ring[lowest]
  if (at === undefined) return true
  const before = neighbour(ring, lowest, -1)
  const after = neighbour(ring, lowest, 1)
  return orient2d(before[0]!, before[1]!, at[0]!, at[1]!, after[0]!, after[1]!) >= 0
}

function neighbour(ring: Position[], from: number, step: number): Position {
  const [x, y] = ring[from]!
  for (let i = 1; i < ring.length; i++) {
    const other = ring[(from + step * i + ring.length * i) % ring.length]!
    if (other[0] !== x || other[1] !== y) return other
  }
  return ring[from]!
}

function extent(edges: Float64Array, points: Map<string, Position>) {
  let west = Infinity
  let south = Infinity
  let east = -Infinity
  let north = -Infinity
  for (let i = 0; i < edges.length; i += 2) {
    const x = edges[i]!
    const y = edges[i + 1]!
    if (x < west) west = x
    if (x > east) east = x
    if (y < south) south = y
    if (y > north) north = y
  }
  for (const [x, y] of points.values()) {
    west = Math.min(west, x!)
    south = Math.min(south, y!)
    east = Math.max(east, x!)
    north = Math.max(north, y!)
  }
  return { west, south, east, north }
}
