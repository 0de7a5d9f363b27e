import { EdgeList } from './edge-list.ts'
import { EdgeBoxes } from './edge-overlaps.ts'
import { type Rings, side } from './rings.ts'

const boxes = new EdgeBoxes()
const divided = new EdgeList()
const arranged = new EdgeList()

/**
 * Rounding a crossing moves edges a little, which may make others cross. A few rounds suffice, unless long edges are
 * nearly parallel: then a crossing may move by one unit in each round. A tile and its margin are 4,224 units wide.
 * After these rounds, the edges of all rounds together are limited: 4 million take about 0.4 s.
 */
const FREE_ROUNDS = 12
const MAX_EDGES_IN_ROUNDS = 4_000_000

/**
 * The edges of rings, divided where they cross or touch, so that two edges meet at nothing but their ends.
 * Crossings are rounded to the grid. Edges that rings run along equally often both ways are left out. They are
 * sorted by a, then by b. The list is valid until the next call.
 */
export function arrangeEdges({ xy, ends }: Rings): EdgeList {
  divided.clear()
  let from = 0
  for (const end of ends) {
    for (let i = from; i < end; i++) {
      const next = i + 1 < end ? i + 1 : from
      divided.add(xy[i * 2]!, xy[i * 2 + 1]!, xy[next * 2]!, xy[next * 2 + 1]!, 1, 0)
    }
    from = end
  }
  divided.mergeInto(arranged)
  arranged.isComplete = false
  let edgesInRounds = 0
  for (let round = 0; round < FREE_ROUNDS || edgesInRounds < MAX_EDGES_IN_ROUNDS; round++) {
    edgesInRounds += arranged.count
    const cuts = findCuts(arranged)
    if (cuts.size === 0) {
      arranged.isComplete = true
      break
    }
    divideAt(arranged, cuts)
    divided.mergeInto(arranged)
  }
  return arranged
}

/** By edge, the positions at which other edges meet it: x and y in turn. */
type Cuts = Map<number, number[]>

function findCuts(edges: EdgeList): Cuts {
  const cuts: Cuts = new Map()
  const { count, ax, ay, bx, by, isNew } = edges
  boxes.clear(count)
  for (let i = 0; i < count; i++) boxes.add(ax[i]!, ay[i]!, bx[i]!, by[i]!)
  boxes.fillBands(true)
  boxes.visitOverlaps((i, j) => {
    if (isNew[i] === 1 || isNew[j] === 1) cutPair(edges, i, j, cuts)
    return true
  })
  return cuts
}

/** Cuts two edges, whose boxes overlap, where they cross or touch. */
function cutPair(edges: EdgeList, one: number, two: number, cuts: Cuts): void {
  const ax = edges.ax[one]!
  const ay = edges.ay[one]!
  const bx = edges.bx[one]!
  const by = edges.by[one]!
  const cx = edges.ax[two]!
  const cy = edges.ay[two]!
  const dx = edges.bx[two]!
  const dy = edges.by[two]!
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
    cut(edges, one, x, y, cuts)
    cut(edges, two, x, y, cuts)
    return
  }
  if (sideC === 0) cut(edges, one, cx, cy, cuts)
  if (sideD === 0) cut(edges, one, dx, dy, cuts)
  if (sideA === 0) cut(edges, two, ax, ay, cuts)
  if (sideB === 0) cut(edges, two, bx, by, cuts)
}

/** Cuts an edge at a position, unless that is an end of it or outside its box. */
function cut({ ax, ay, bx, by }: EdgeList, edge: number, x: number, y: number, cuts: Cuts): void {
  if ((x === ax[edge] && y === ay[edge]) || (x === bx[edge] && y === by[edge])) return
  if (x < ax[edge]! || x > bx[edge]!) return
  if (y < Math.min(ay[edge]!, by[edge]!) || y > Math.max(ay[edge]!, by[edge]!)) return
  const positions = cuts.get(edge)
  if (positions) positions.push(x, y)
  else cuts.set(edge, [x, y])
}

/** Writes the edges to `divided`, those with cuts in parts. */
function divideAt(edges: EdgeList, cuts: Cuts): void {
  divided.clear()
  for (let i = 0; i < edges.count; i++) {
    const positions = cuts.get(i)
    edges.isNew[i] = 0
    if (positions) addParts(edges, i, positions)
    else divided.addCopy(edges, i)
  }
}

function addParts(edges: EdgeList, edge: number, positions: readonly number[]): void {
  const ax = edges.ax[edge]!
  const ay = edges.ay[edge]!
  const bx = edges.bx[edge]!
  const by = edges.by[edge]!
  const along = ([x, y]: [number, number]) => (x - ax) * (bx - ax) + (y - ay) * (by - ay)
  const stops: [number, number][] = []
  for (let i = 0; i < positions.length; i += 2) stops.push([positions[i]!, positions[i + 1]!])
  stops.sort((one, two) => along(one) - along(two))
  stops.push([bx, by])
  let fromX = ax
  let fromY = ay
  for (const [x, y] of stops) {
    if (x === fromX && y === fromY) continue
    divided.add(fromX, fromY, x, y, edges.winding[edge]!, 1)
    fromX = x
    fromY = y
  }
}
