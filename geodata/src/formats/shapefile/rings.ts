import type { Position } from '../../feature.ts'
import { MeasuredRing } from './measured-ring.ts'

/** Comparing every hole with every other takes a second for this many; beyond, their winding is trusted. */
const MAX_COMPARED_HOLES = 20_000

/**
 * Groups the rings of a shapefile's polygon, which is an unordered list: outer rings are clockwise, holes
 * counter-clockwise. Each hole belongs to the smallest outer ring that contains it.
 *
 * Files whose writers ignored the winding are common. A counter-clockwise ring that is inside no other cannot
 * be a hole, so a shape that has one is grouped by containment alone; and one that is inside a hole is an
 * outer ring.
 */
export function groupRings(rings: Position[][]): Position[][][] {
  if (rings.length < 2) return rings.length === 0 ? [] : [rings]
  const measured = rings.map((ring, order) => new MeasuredRing(ring, order))
  const outers = measured.filter(({ area }) => area < 0)
  const holes = measured.filter(({ area }) => area >= 0)
  if (holes.length === 0) return rings.map((ring) => [ring])
  // The smallest outer ring around a hole is the first one that contains it.
  outers.sort(bySize)
  const shells = holes.map((hole) => outers.find((outer) => outer.contains(hole)) ?? null)
  if (shells.includes(null)) return groupByContainment(measured)
  const shellOf = new Map(holes.map((hole, i) => [hole, shells[i]!]))
  const islands = islandsOf(shellOf)
  const polygons = new Map(outers.map((outer) => [outer, [outer.ring]]))
  for (const [hole, shell] of shellOf) {
    if (islands.has(hole)) polygons.set(hole, [hole.ring])
    else polygons.get(shell)!.push(hole.ring)
  }
  return inOrder(polygons)
}

function bySize(a: MeasuredRing, b: MeasuredRing): number {
  return Math.abs(a.area) - Math.abs(b.area) || a.order - b.order
}

/** The rings that are wound as holes, but are inside another hole with no outer ring between the two. */
function islandsOf(shellOf: Map<MeasuredRing, MeasuredRing>): Set<MeasuredRing> {
  const islands = new Set<MeasuredRing>()
  if (shellOf.size < 2 || shellOf.size > MAX_COMPARED_HOLES) return islands
  // From the largest to the smallest, so that what surrounds a ring is decided before it.
  const sorted = [...shellOf.keys()].sort((a, b) => bySize(b, a))
  for (const [i, hole] of sorted.entries()) {
    const around = smallestAround(sorted, i)
    if (around && !islands.has(around) && Math.abs(around.area) < Math.abs(shellOf.get(hole)!.area))
      islands.add(hole)
  }
  return islands
}

/** The smallest of the rings before the one at `index` that contains it; they are sorted by size. */
function smallestAround(sorted: MeasuredRing[], index: number): MeasuredRing | null {
  for (let i = index - 1; i >= 0; i--) if (sorted[i]!.contains(sorted[index]!)) return sorted[i]!
  return null
}

/** A ring inside an even number of others is an outer ring, whatever its winding. */
function groupByContainment(rings: MeasuredRing[]): Position[][][] {
  const sorted = [...rings].sort((a, b) => bySize(b, a))
  const depths = new Map<MeasuredRing, number>()
  const polygons = new Map<MeasuredRing, Position[][]>()
  for (const [i, ring] of sorted.entries()) {
    const around = smallestAround(sorted, i)
    const depth = around === null ? 0 : depths.get(around)! + 1
    depths.set(ring, depth)
    if (depth % 2 === 1) polygons.get(around!)!.push(ring.ring)
    else polygons.set(ring, [ring.ring])
  }
  return inOrder(polygons)
}

function inOrder(polygons: Map<MeasuredRing, Position[][]>): Position[][][] {
  return [...polygons].sort(([a], [b]) => a.order - b.order).map(([, polygon]) => polygon)
}
