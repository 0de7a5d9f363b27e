import type { Edge } from './edge-arrangement.ts'
import { type Rings, ringArea } from './rings.ts'

interface Direction {
  x: number
  y: number
}

/** One number for a position of a tile and its margin: small enough to be a fast key. */
function keyOf(x: number, y: number): number {
  return (x + 4096) * 16_384 + (y + 4096)
}

/**
 * The rings around everything that an arrangement of edges winds around: outer rings with a positive area, each
 * followed by its holes. Rings touch at single points at most.
 */
export function traceFaces(edges: readonly Edge[]): Rings {
  const leaving = new Map<number, Direction[]>()
  const starts: [number, number][] = []
  const add = (fromX: number, fromY: number, toX: number, toY: number) => {
    const key = keyOf(fromX, fromY)
    const ends = leaving.get(key)
    if (ends) ends.push({ x: toX, y: toY })
    else leaving.set(key, [{ x: toX, y: toY }])
    starts.push([fromX, fromY])
  }
  // With y downwards, an outer ring of positive area has the inside below an edge that runs to the right, and
  // to the left of one that runs down.
  findInside(edges, false, ({ ax, ay, bx, by }, isInsideAfter) =>
    isInsideAfter ? add(ax, ay, bx, by) : add(bx, by, ax, ay),
  )
  findInside(edges, true, ({ ax, ay, bx, by }, isInsideAfter) =>
    isInsideAfter ? add(bx, by, ax, ay) : add(ax, ay, bx, by),
  )
  const rings: number[][] = []
  for (const [x, y] of starts) {
    while ((leaving.get(keyOf(x, y))?.length ?? 0) > 0) walk(x, y, leaving, rings)
  }
  return nested(rings)
}

/**
 * For each edge that separates inside from outside, tells whether the inside is after it: below edges that are
 * not vertical (`vertical` false), or to the right of vertical ones. A line between two grid lines is followed
 * across the edges, and the winding is summed up.
 */
function findInside(
  edges: readonly Edge[],
  vertical: boolean,
  report: (edge: Edge, isInsideAfter: boolean) => void,
): void {
  const low = ({ ax, ay, by }: Edge) => (vertical ? Math.min(ay, by) : ax)
  const high = ({ ay, bx, by }: Edge) => (vertical ? Math.max(ay, by) : bx)
  const isReported = (edge: Edge) => !vertical || edge.ax === edge.bx
  const crossing = vertical ? crossingX : crossingY
  const sorted = edges.filter((edge) => low(edge) < high(edge)).sort((a, b) => low(a) - low(b))
  let active: Edge[] = []
  let arrived: Edge[] = []
  for (let i = 0; i < sorted.length; ) {
    const start = low(sorted[i]!)
    let hasReported = false
    for (; i < sorted.length && low(sorted[i]!) === start; i++) {
      arrived.push(sorted[i]!)
      hasReported ||= isReported(sorted[i]!)
    }
    if (!hasReported) continue
    const at = start + 0.5
    const isActive = (edge: Edge) => high(edge) > start
    arrived = arrived.filter(isActive).sort((a, b) => crossing(a, at) - crossing(b, at))
    active = mergedBy(active.filter(isActive), arrived, (edge) => crossing(edge, at))
    arrived = []
    let winding = 0
    for (const edge of active) {
      const before = winding
      winding += vertical && edge.by < edge.ay ? -edge.winding : edge.winding
      if (low(edge) !== start || !isReported(edge)) continue
      if ((before !== 0) !== (winding !== 0)) report(edge, winding !== 0)
    }
  }
}

/** Two sorted lists as one. Edges do not cross, so those that were sorted at an earlier line still are. */
function mergedBy(one: readonly Edge[], two: readonly Edge[], placeOf: (edge: Edge) => number): Edge[] {
  const both: Edge[] = []
  let i = 0
  for (const edge of two) {
    const value = placeOf(edge)
    while (i < one.length && placeOf(one[i]!) <= value) both.push(one[i++]!)
    both.push(edge)
  }
  while (i < one.length) both.push(one[i++]!)
  return both
}

function crossingY({ ax, ay, bx, by }: Edge, x: number): number {
  return ay + ((by - ay) * (x - ax)) / (bx - ax)
}

function crossingX({ ax, ay, bx, by }: Edge, y: number): number {
  return ax + ((bx - ax) * (y - ay)) / (by - ay)
}

/**
 * Follows edges until the path is closed. At a point where several edges leave, the sharpest turn towards the
 * inside is taken, so that the path stays with one face; where the path meets itself, a ring is cut off.
 */
function walk(startX: number, startY: number, leaving: Map<number, Direction[]>, rings: number[][]): void {
  const path: number[] = [startX, startY]
  const placeOf = new Map<number, number>([[keyOf(startX, startY), 0]])
  let [x, y, dx, dy] = [startX, startY, 0, 0]
  for (;;) {
    const options = leaving.get(keyOf(x, y))
    if (!options || options.length === 0) return
    const chosen = sharpestTurn(options, x, y, dx, dy)
    const [next] = options.splice(chosen, 1)
    dx = next!.x - x
    dy = next!.y - y
    x = next!.x
    y = next!.y
    const key = keyOf(x, y)
    const place = placeOf.get(key)
    if (place === undefined) {
      placeOf.set(key, path.length)
      path.push(x, y)
      continue
    }
    rings.push(path.slice(place))
    for (let i = place + 2; i < path.length; i += 2) placeOf.delete(keyOf(path[i]!, path[i + 1]!))
    path.length = place + 2
    if (place === 0) return
    dx = x - path[place - 2]!
    dy = y - path[place - 1]!
  }
}

function sharpestTurn(options: readonly Direction[], x: number, y: number, dx: number, dy: number): number {
  if (options.length === 1) return 0
  let chosen = 0
  let sharpest = -Infinity
  options.forEach((option, i) => {
    const [ex, ey] = [option.x - x, option.y - y]
    const turn = Math.atan2(dx * ey - dy * ex, dx * ex + dy * ey)
    if (turn > sharpest) {
      sharpest = turn
      chosen = i
    }
  })
  return chosen
}

interface TracedRing {
  xy: number[]
  area: number
}

/** Puts each hole after the smallest outer ring around it. */
function nested(rings: readonly number[][]): Rings {
  const outer: (TracedRing & { holes: number[][] })[] = []
  const holes: TracedRing[] = []
  for (const xy of rings) {
    const area = ringArea(xy, 0, xy.length / 2)
    if (area > 0) outer.push({ xy, area, holes: [] })
    else if (area < 0) holes.push({ xy, area })
  }
  outer.sort((a, b) => a.area - b.area)
  for (const { xy, area } of holes) {
    const around = outer.find((ring) => ring.area > -area && surrounds(ring.xy, xy))
    around?.holes.push(xy)
  }
  const result: Rings = { xy: [], ends: [] }
  const append = (xy: readonly number[]) => {
    for (const coordinate of xy) result.xy.push(coordinate)
    result.ends.push(result.xy.length / 2)
  }
  for (const ring of outer) {
    append(ring.xy)
    for (const hole of ring.holes) append(hole)
  }
  return result
}

/** Whether a ring surrounds another that does not cross it. The middle of an edge is never on both. */
function surrounds(ring: readonly number[], inner: readonly number[]): boolean {
  const x = (inner[0]! + inner[2]!) / 2
  const y = (inner[1]! + inner[3]!) / 2
  let isInside = false
  for (let i = 0, before = ring.length - 2; i < ring.length; before = i, i += 2) {
    const [ax, ay, bx, by] = [ring[i]!, ring[i + 1]!, ring[before]!, ring[before + 1]!]
    if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) isInside = !isInside
  }
  return isInside
}
