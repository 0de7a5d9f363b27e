import type { Geometry } from '../feature.ts'
import { intersectsPrepared } from './intersects.ts'
import { BOUNDARY, EXTERIOR, INTERIOR, locate } from './locate.ts'
import type { RelationBudget } from './nodes.ts'
import { type PreparedGeometry, prepare } from './prepared-geometry.ts'
import { type Matrix, relate } from './relate.ts'

/** The eight relations of Simple Features (OGC 06-103r4, 6.1.15) that CQL2 names. */
export type SpatialPredicate =
  | 'intersects'
  | 'disjoint'
  | 'equals'
  | 'touches'
  | 'within'
  | 'contains'
  | 'crosses'
  | 'overlaps'

export { RelationBudget, RelationCostError } from './nodes.ts'
export type { PreparedGeometry } from './prepared-geometry.ts'
export { prepare } from './prepared-geometry.ts'

/**
 * Whether the relation holds between two geometries: in the plane, using only x and y, exact to the last bit
 * of their coordinates. Prepare a geometry that is tested often. Polygons must be valid; for others the
 * result is undefined. Throws a RelationCostError for geometries that meet in thousands of points.
 */
export function relates(
  predicate: SpatialPredicate,
  a: Geometry | PreparedGeometry,
  b: Geometry | PreparedGeometry,
  budget?: RelationBudget,
): boolean {
  if (predicate === 'intersects') return intersects(a, b)
  if (predicate === 'disjoint') return !intersects(a, b)
  return RELATIONS[predicate](prepared(a), prepared(b), budget)
}

function intersects(a: Geometry | PreparedGeometry, b: Geometry | PreparedGeometry): boolean {
  if ('tree' in a) return intersectsPrepared(a, 'tree' in b ? b.geometry : b)
  if ('tree' in b) return intersectsPrepared(b, a)
  return a.type === 'Point' ? intersectsPrepared(prepare(b), a) : intersectsPrepared(prepare(a), b)
}

function prepared(geometry: Geometry | PreparedGeometry): PreparedGeometry {
  return 'tree' in geometry ? geometry : prepare(geometry)
}

type Relation = (a: PreparedGeometry, b: PreparedGeometry, budget?: RelationBudget) => boolean

const RELATIONS: Record<Exclude<SpatialPredicate, 'intersects' | 'disjoint'>, Relation> = {
  equals(a, b, budget) {
    if (a.isEmpty || b.isEmpty) return a.isEmpty && b.isEmpty
    if (a.dimension !== b.dimension || !hasSameBox(a, b)) return false
    // A geometry compared with a copy of itself meets it everywhere.
    return hasSameEdges(a, b) || matches(relate(a, b, budget), 'T*F**FFF*')
  },
  touches(a, b, budget) {
    if (!boxesMeet(a, b) || (a.dimension === 0 && b.dimension === 0)) return false
    if (isPoint(a)) return locatePoint(a, b) === BOUNDARY
    if (isPoint(b)) return locatePoint(b, a) === BOUNDARY
    const matrix = relate(a, b, budget)
    return matches(matrix, 'FT*******') || matches(matrix, 'F**T*****') || matches(matrix, 'F***T****')
  },
  within(a, b, budget) {
    if (a.isEmpty || b.isEmpty || a.dimension > b.dimension || !boxHolds(b, a)) return false
    if (isPoint(a)) return locatePoint(a, b) === INTERIOR
    if (hasVertexOutside(a, b)) return false
    return matches(relate(a, b, budget), 'T*F**F***')
  },
  contains(a, b, budget) {
    return RELATIONS.within(b, a, budget)
  },
  crosses(a, b, budget) {
    if (!boxesMeet(a, b) || isPoint(a) || isPoint(b)) return false
    if (a.dimension < b.dimension) return matches(relate(a, b, budget), 'T*T******')
    if (a.dimension > b.dimension) return matches(relate(a, b, budget), 'T*****T**')
    return a.dimension === 1 && matches(relate(a, b, budget), '0********')
  },
  overlaps(a, b, budget) {
    if (!boxesMeet(a, b) || a.dimension !== b.dimension) return false
    return matches(relate(a, b, budget), a.dimension === 1 ? '1*T***T**' : 'T*T***T**')
  },
}

export function matches(matrix: Matrix, pattern: string): boolean {
  for (let i = 0; i < 9; i++) {
    const symbol = pattern[i]
    const dimension = matrix[i]!
    if (symbol === '*') continue
    if (symbol === 'T' ? dimension < 0 : symbol === 'F' ? dimension >= 0 : dimension !== Number(symbol)) {
      return false
    }
  }
  return true
}

function isPoint(geometry: PreparedGeometry): boolean {
  return geometry.dimension === 0 && geometry.points.size === 1
}

function locatePoint(point: PreparedGeometry, other: PreparedGeometry) {
  return locate(other, { x: point.west, y: point.south, exact: null }, { bits: 0 })
}

/** Tests the first vertex of each part: a quick rejection of most geometries that are not within. */
function hasVertexOutside(a: PreparedGeometry, b: PreparedGeometry): boolean {
  return a.chains.some(({ from }) => {
    const start = { x: a.edges[from * 4]!, y: a.edges[from * 4 + 1]!, exact: null }
    return locate(b, start, a) === EXTERIOR
  })
}

function hasSameEdges(a: PreparedGeometry, b: PreparedGeometry): boolean {
  if (a.points.size > 0 || b.points.size > 0 || a.edges.length !== b.edges.length) return false
  if (a.chains.length !== b.chains.length) return false
  const hasSameChains = a.chains.every((chain, i) => {
    const other = b.chains[i]!
    return chain.from === other.from && chain.area === other.area
  })
  return hasSameChains && a.edges.every((value, i) => value === b.edges[i])
}

function boxesMeet(a: PreparedGeometry, b: PreparedGeometry): boolean {
  return a.west <= b.east && a.south <= b.north && a.east >= b.west && a.north >= b.south
}

function boxHolds(a: PreparedGeometry, b: PreparedGeometry): boolean {
  return a.west <= b.west && a.south <= b.south && a.east >= b.east && a.north >= b.north
}

function hasSameBox(a: PreparedGeometry, b: PreparedGeometry): boolean {
  return boxHolds(a, b) && boxHolds(b, a)
}
