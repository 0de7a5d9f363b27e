import type { Geometry, Position } from '../feature.ts'
import { searchEdges } from './edge-tree.ts'
import { EXTERIOR, locate } from './locate.ts'
import { edgesMeet } from './nodes.ts'
import { type PreparedGeometry, prepare } from './prepared-geometry.ts'

// Only points with double coordinates are located here, which need no scale.
const UNSCALED = { bits: 0 }
const nearEdges: number[] = []
const edge = new Float64Array(4)

/** Whether a prepared geometry and another one share any point. The other is only prepared if necessary. */
export function intersectsPrepared(a: PreparedGeometry, b: Geometry): boolean {
  if (a.isEmpty) return false
  return meets(a, b) || (mayContain(b, a) && isInside(a, b))
}

/** Whether any vertex or edge of b intersects a. */
function meets(a: PreparedGeometry, b: Geometry): boolean {
  switch (b.type) {
    case 'Point':
      return holds(a, b.coordinates)
    case 'MultiPoint':
      return b.coordinates.some((point) => holds(a, point))
    case 'LineString':
      return meetsLine(a, b.coordinates)
    case 'MultiLineString':
    case 'Polygon':
      return b.coordinates.some((line) => meetsLine(a, line))
    case 'MultiPolygon':
      return b.coordinates.some((rings) => rings.some((line) => meetsLine(a, line)))
    case 'GeometryCollection':
      return b.geometries.some((member) => meets(a, member))
  }
}

function holds(a: PreparedGeometry, point: Position): boolean {
  const [x, y] = point
  if (x === undefined || y === undefined) return false
  if (x < a.west || x > a.east || y < a.south || y > a.north) return false
  return locate(a, { x, y, exact: null }, UNSCALED) !== EXTERIOR
}

function meetsLine(a: PreparedGeometry, line: Position[]): boolean {
  if (line.length === 0) return false
  if (holds(a, line[0]!)) return true
  for (let i = 1; i < line.length; i++) {
    if (meetsEdge(a, line[i - 1]!, line[i]!)) return true
  }
  return false
}

function meetsEdge(a: PreparedGeometry, from: Position, to: Position): boolean {
  const x0 = from[0]!
  const y0 = from[1]!
  const x1 = to[0]!
  const y1 = to[1]!
  const west = Math.min(x0, x1)
  const south = Math.min(y0, y1)
  const east = Math.max(x0, x1)
  const north = Math.max(y0, y1)
  if (west > a.east || south > a.north || east < a.west || north < a.south) return false
  edge[0] = x0
  edge[1] = y0
  edge[2] = x1
  edge[3] = y1
  searchEdges(a.tree, a.edges, west, south, east, north, nearEdges)
  for (const other of nearEdges) {
    if (edgesMeet(a.edges, other * 4, edge, 0)) return true
  }
  for (const [x, y] of a.points.values()) {
    if (x! < west || x! > east || y! < south || y! > north) continue
    if (edgesMeet(edge, 0, Float64Array.of(x!, y!, x!, y!), 0)) return true
  }
  return false
}

/** Whether b has areas that could completely contain a or a part of it. */
function mayContain(b: Geometry, a: PreparedGeometry): boolean {
  switch (b.type) {
    case 'Polygon':
      return reaches(b.coordinates, a)
    case 'MultiPolygon':
      return b.coordinates.some((rings) => reaches(rings, a))
    case 'GeometryCollection':
      return b.geometries.some((member) => mayContain(member, a))
    case 'Point':
    case 'MultiPoint':
    case 'LineString':
    case 'MultiLineString':
      return false
  }
}

function reaches(rings: Position[][], a: PreparedGeometry): boolean {
  let west = Infinity
  let south = Infinity
  let east = -Infinity
  let north = -Infinity
  for (const [x, y] of rings[0] ?? []) {
    west = Math.min(west, x!)
    south = Math.min(south, y!)
    east = Math.max(east, x!)
    north = Math.max(north, y!)
  }
  return west <= a.east && south <= a.north && east >= a.west && north >= a.south
}

/** No edges intersect, so each part of a is completely inside or outside b; test one point of each. */
function isInside(a: PreparedGeometry, b: Geometry): boolean {
  const shape = prepare(b)
  for (const point of a.points.values()) {
    if (holds(shape, point)) return true
  }
  return a.chains.some((chain) => holds(shape, [a.edges[chain.from * 4]!, a.edges[chain.from * 4 + 1]!]))
}
