import type { Bbox } from '../geometry/bbox.ts'

/**
 * A packed R-tree over features that stand in Hilbert order already. It is built bottom-up without sorting
 * again, so leaf i is feature i, and node j of level l covers exactly the leaves j·16ˡ to (j+1)·16ˡ−1: hits come
 * out in snapshot order, and a subtree at or before a cursor is skipped whole.
 */

const FANOUT = 16
const FANOUT_BITS = 4

/** How many numbers the inner nodes of a tree over `leaves` take. */
export function treeNodeNumbers(leaves: number): number {
  let nodes = 0
  for (let count = leaves; count > 1; ) {
    count = Math.ceil(count / FANOUT)
    nodes += count
  }
  return nodes * 4
}

/** Fills `nodes` (level by level, from the leaves' parents to the root) with the boxes of their children. */
export function buildTree(leaves: Float64Array, isPoints: boolean, nodes: Float64Array): void {
  let source = leaves
  let from = 0
  let count = leaves.length / (isPoints ? 2 : 4)
  let pointLevel = isPoints
  let to = 0
  while (count > 1) {
    const parents = Math.ceil(count / FANOUT)
    for (let parent = 0; parent < parents; parent++) {
      let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
      const end = Math.min(count, (parent + 1) * FANOUT)
      for (let child = parent * FANOUT; child < end; child++) {
        const at = from + child * (pointLevel ? 2 : 4)
        const high = pointLevel ? at : at + 2
        if (source[at]! < west) west = source[at]!
        if (source[at + 1]! < south) south = source[at + 1]!
        if (source[high]! > east) east = source[high]!
        if (source[high + 1]! > north) north = source[high + 1]!
      }
      const at = to + parent * 4
      nodes[at] = west
      nodes[at + 1] = south
      nodes[at + 2] = east
      nodes[at + 3] = north
    }
    source = nodes
    from = to
    to += parents * 4
    count = parents
    pointLevel = false
  }
}

const OUTSIDE = 0
const OVERLAPS = 1
const INSIDE = 2

export interface TreeCount {
  /** Features whose box lies in the query: they match for sure. */
  certain: number
  /** Positions of features whose box only overlaps the query: their geometry decides. */
  uncertain: number[]
}

export class IndexTree {
  readonly count: number
  /** Whether every leaf is a point: then every hit is certain. */
  readonly isPoints: boolean
  readonly #leaves: Float64Array
  readonly #nodes: Float64Array
  /** Where each level starts in `#nodes`; level 1 is the first. */
  readonly #levels: number[] = []

  constructor(leaves: Float64Array, isPoints: boolean, nodes: Float64Array) {
    this.#leaves = leaves
    this.#nodes = nodes
    this.isPoints = isPoints
    this.count = leaves.length / (isPoints ? 2 : 4)
    let start = 0
    for (let count = this.count; count > 1; ) {
      count = Math.ceil(count / FANOUT)
      this.#levels.push(start)
      start += count * 4
    }
  }

  /** The box of the feature at a position. */
  box(position: number): Bbox {
    const leaves = this.#leaves
    if (this.isPoints) {
      const [x, y] = [leaves[position * 2]!, leaves[position * 2 + 1]!]
      return [x, y, x, y]
    }
    const at = position * 4
    return [leaves[at]!, leaves[at + 1]!, leaves[at + 2]!, leaves[at + 3]!]
  }

  /**
   * Fills `positions` with the features after position `after` (-1 for all) whose box meets the query, in
   * snapshot order, and answers how many it found: fewer than the array holds means that there are no more.
   * `certain`, where given, gets 1 for a hit that needs no further test and 0 for one whose geometry decides.
   * To go on, call again with the last position found. West > east crosses the antimeridian.
   */
  search(query: Bbox, after: number, positions: Uint32Array, certain?: Uint8Array): number {
    const limit = positions.length
    const from = after + 1
    let found = 0
    if (limit === 0) return 0
    this.#walk(query, from, (begin, end, inside) => {
      for (let position = begin; position < end; position++) {
        if (certain !== undefined) certain[found] = inside ? 1 : 0
        positions[found++] = position
        if (found === limit) return false
      }
      return true
    })
    return found
  }

  /**
   * How many features meet the query, by counting contained nodes whole; null where more than `budget` nodes
   * and leaves would have to be looked at.
   */
  countWithin(query: Bbox, budget: number): TreeCount | null {
    const counted: TreeCount = { certain: 0, uncertain: [] }
    const finished = this.#walk(
      query,
      0,
      (begin, end, inside) => {
        if (inside) counted.certain += end - begin
        else counted.uncertain.push(begin)
        return true
      },
      budget,
    )
    return finished ? counted : null
  }

  /**
   * Visits the runs of features (`begin` to `end`, excluded) whose boxes meet the query, in snapshot order:
   * whole nodes at once where they lie inside. `inside` says that no further test is needed.
   */
  visitRuns(query: Bbox, visit: (begin: number, end: number, inside: boolean) => void): void {
    this.#walk(query, 0, (begin, end, inside) => {
      visit(begin, end, inside)
      return true
    })
  }

  /** Visits runs of hits in order; `visit` answers false to stop. False where stopped or over budget. */
  #walk(
    query: Bbox,
    from: number,
    visit: (begin: number, end: number, inside: boolean) => boolean,
    budget = Infinity,
  ): boolean {
    if (this.count === 0 || from >= this.count) return true
    const [west, south, east, north] = query
    const crosses = west > east
    // The second box of a query across the antimeridian; otherwise one that nothing meets.
    const east1 = crosses ? Infinity : east
    const west2 = crosses ? -Infinity : Infinity
    const nodes = this.#nodes
    const leaves = this.#leaves
    const side = (w: number, s: number, e: number, n: number): number => {
      if (s > north || n < south) return OUTSIDE
      const meets1 = w <= east1 && e >= west
      const meets2 = crosses && w <= east && e >= west2
      if (!meets1 && !meets2) return OUTSIDE
      const inLatitude = s >= south && n <= north
      if (!inLatitude) return OVERLAPS
      if (meets1 && w >= west && e <= east1) return INSIDE
      return meets2 && e <= east ? INSIDE : OVERLAPS
    }
    const stride = this.isPoints ? 2 : 4
    const high = this.isPoints ? 0 : 2
    let looked = 0

    const descend = (level: number, index: number): boolean => {
      const shift = level * FANOUT_BITS
      const begin = index * 2 ** shift
      const end = Math.min(this.count, begin + 2 ** shift)
      if (end <= from) return true
      if (++looked > budget) return false
      if (level === 0) {
        const at = begin * stride
        const where = side(leaves[at]!, leaves[at + 1]!, leaves[at + high]!, leaves[at + high + 1]!)
        return where === OUTSIDE || visit(begin, end, where === INSIDE || this.isPoints)
      }
      const at = this.#levels[level - 1]! + index * 4
      const where = side(nodes[at]!, nodes[at + 1]!, nodes[at + 2]!, nodes[at + 3]!)
      if (where === OUTSIDE) return true
      if (where === INSIDE) return visit(Math.max(begin, from), end, true)
      const children = level === 1 ? this.count : Math.ceil(this.count / 2 ** (shift - FANOUT_BITS))
      const last = Math.min(children, (index + 1) * FANOUT)
      for (let child = index * FANOUT; child < last; child++) if (!descend(level - 1, child)) return false
      return true
    }
    return descend(this.#levels.length, 0)
  }
}
