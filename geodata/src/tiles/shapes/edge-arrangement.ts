import { EdgeBoxes } from './edge-overlaps.ts'
import { type Rings, side } from './rings.ts'

const boxes = new EdgeBoxes()

/** An edge from its left (or, if vertical, upper) end to the other. */
export interface Edge {
  ax: number
  ay: number
  bx: number
  by: number
  /** How often rings run from a to b, less how often they run from b to a. */
  winding: number
  /** False once it has been compared with all other edges that are not new. */
  isNew: boolean
}

/** Rounding a crossing moves edges a little, which may make others cross; this many rounds always sufficed. */
const MAX_ROUNDS = 12

/**
 * The edges of rings, divided where they cross or touch, so that two edges meet at nothing but their ends.
 * Crossings are rounded to the grid. Edges that rings run along equally often both ways are left out.
 */
export function arrangeEdges({ xy, ends }: Rings): Edge[] {
  let edges: Edge[] = []
  let from = 0
  for (const end of ends) {
    for (let i = from; i < end; i++) {
      const next = i + 1 < end ? i + 1 : from
      edges.push(makeEdge(xy[i * 2]!, xy[i * 2 + 1]!, xy[next * 2]!, xy[next * 2 + 1]!, 1))
    }
    from = end
  }
  edges = merged(edges)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const divided = divideOnce(edges)
    if (divided === null) return edges
    edges = merged(divided)
  }
  return edges
}

function makeEdge(ax: number, ay: number, bx: number, by: number, winding: number): Edge {
  return ax < bx || (ax === bx && ay < by)
    ? { ax, ay, bx, by, winding, isNew: true }
    : { ax: bx, ay: by, bx: ax, by: ay, winding: -winding, isNew: true }
}

/** The edges from left to right, equal ones as one. */
function merged(edges: Edge[]): Edge[] {
  edges.sort((a, b) => a.ax - b.ax || a.ay - b.ay || a.bx - b.bx || a.by - b.by)
  let count = 0
  for (let i = 0; i < edges.length; ) {
    const edge = edges[i]!
    let next = i + 1
    for (; next < edges.length && isEqual(edge, edges[next]!); next++) {
      edge.winding += edges[next]!.winding
      edge.isNew &&= edges[next]!.isNew
    }
    if (edge.winding !== 0) edges[count++] = edge
    i = next
  }
  edges.length = count
  return edges
}

function isEqual(a: Edge, b: Edge): boolean {
  return a.ax === b.ax && a.ay === b.ay && a.bx === b.bx && a.by === b.by
}

/** Divides every edge at the points where others meet it; null if there are none. */
function divideOnce(edges: readonly Edge[]): Edge[] | null {
  const cuts = new Map<Edge, number[]>()
  const cut = (edge: Edge, x: number, y: number) => {
    if ((x === edge.ax && y === edge.ay) || (x === edge.bx && y === edge.by)) return
    const edgeCuts = cuts.get(edge)
    if (edgeCuts) edgeCuts.push(x, y)
    else cuts.set(edge, [x, y])
  }
  boxes.clear(edges.length)
  for (const { ax, ay, bx, by } of edges) boxes.add(ax, ay, bx, by)
  boxes.visitOverlaps((i, j) => {
    const [one, two] = [edges[i]!, edges[j]!]
    if (one.isNew || two.isNew) cutPair(one, two, cut)
  })
  if (cuts.size === 0) return null
  const divided: Edge[] = []
  for (const edge of edges) {
    const points = cuts.get(edge)
    if (points) divided.push(...dividedAt(edge, points))
    else {
      edge.isNew = false
      divided.push(edge)
    }
  }
  return divided
}

/** Cuts two edges, whose boxes overlap, where they cross or touch. */
function cutPair(one: Edge, two: Edge, cut: (edge: Edge, x: number, y: number) => void): void {
  const { ax, ay, bx, by } = one
  const { ax: cx, ay: cy, bx: dx, by: dy } = two
  const sideC = side(ax, ay, bx, by, cx, cy)
  const sideD = side(ax, ay, bx, by, dx, dy)
  if ((sideC > 0 && sideD > 0) || (sideC < 0 && sideD < 0)) return
  const sideA = side(cx, cy, dx, dy, ax, ay)
  const sideB = side(cx, cy, dx, dy, bx, by)
  if ((sideA > 0 && sideB > 0) || (sideA < 0 && sideB < 0)) return
  if (sideC !== 0 && sideD !== 0 && sideA !== 0 && sideB !== 0) {
    const share = sideA / (sideA - sideB)
    const x = Math.round(ax + (bx - ax) * share)
    const y = Math.round(ay + (by - ay) * share)
    cut(one, x, y)
    cut(two, x, y)
    return
  }
  if (sideC === 0 && isInBox(one, cx, cy)) cut(one, cx, cy)
  if (sideD === 0 && isInBox(one, dx, dy)) cut(one, dx, dy)
  if (sideA === 0 && isInBox(two, ax, ay)) cut(two, ax, ay)
  if (sideB === 0 && isInBox(two, bx, by)) cut(two, bx, by)
}

function isInBox({ ax, ay, bx, by }: Edge, x: number, y: number): boolean {
  return x >= ax && x <= bx && y >= Math.min(ay, by) && y <= Math.max(ay, by)
}

function dividedAt({ ax, ay, bx, by, winding }: Edge, points: readonly number[]): Edge[] {
  const along = (x: number, y: number) => (x - ax) * (bx - ax) + (y - ay) * (by - ay)
  const stops: [number, number][] = []
  for (let i = 0; i < points.length; i += 2) stops.push([points[i]!, points[i + 1]!])
  stops.sort((a, b) => along(...a) - along(...b))
  stops.push([bx, by])
  const parts: Edge[] = []
  let [fromX, fromY] = [ax, ay]
  for (const [x, y] of stops) {
    if (x === fromX && y === fromY) continue
    parts.push(makeEdge(fromX, fromY, x, y, winding))
    fromX = x
    fromY = y
  }
  return parts
}
