import type { Bbox } from '../geometry/bbox.ts'

/**
 * A packed R-tree over features that are already in Hilbert order. It is built bottom-up without another
 * sort, so leaf i is feature i, and node j of level l covers exactly the leaves j·16ˡ to (j+1)·16ˡ−1. Hits
 * are therefore returned in snapshot order, and a subtree at or before a cursor is skipped as a whole.
 */

const FANOUT = 16
/** The number of leaves below a node of each level; 10 levels suffice for 32-bit positions. */
const SPANS = Float64Array.from({ length: 10 }, (_, level) => FANOUT ** level)

/** The length of the array of inner nodes (4 numbers per node) for a tree over `leaves` leaves. */
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

export interface TreeCount {
  /** The number of features whose box lies inside the query, so that they match without a geometry test. */
  certain: number
  /** Positions of features whose box only overlaps the query, so that their geometry must be tested. */
  uncertain: number[]
}

/** Features from `begin` to `end` (exclusive). An uncertain feature is a run of its own. */
export interface TreeRun {
  begin: number
  end: number
  isCertain: boolean
}

export class IndexTree {
  readonly count: number
  /** Whether every leaf is a point, which makes every hit certain. */
  readonly isPoints: boolean
  readonly #parts: TreeParts

  constructor(leaves: Float64Array, isPoints: boolean, nodes: Float64Array) {
    const levels: number[] = []
    this.isPoints = isPoints
    this.count = leaves.length / (isPoints ? 2 : 4)
    this.#parts = { leaves, nodes, levels, count: this.count, isPoints }
    let start = 0
    for (let count = this.count; count > 1; ) {
      count = Math.ceil(count / FANOUT)
      levels.push(start)
      start += count * 4
    }
  }

  /** The points (x, y) or boxes (west, south, east, north) of all features, in snapshot order. */
  get leaves(): Float64Array {
    return this.#parts.leaves
  }

  /** The bounding box of the feature at a position. */
  box(position: number): Bbox {
    const { leaves } = this.#parts
    if (this.isPoints) {
      const [x, y] = [leaves[position * 2]!, leaves[position * 2 + 1]!]
      return [x, y, x, y]
    }
    const at = position * 4
    return [leaves[at]!, leaves[at + 1]!, leaves[at + 2]!, leaves[at + 3]!]
  }

  /** A search for the features from position `from` on whose boxes intersect the query, returned as runs. */
  walk(query: Bbox, from: number): TreeWalk {
    return new TreeWalk(query, from, this.#parts)
  }

  /**
   * Counts the features that intersect the query; nodes inside the query are counted as a whole. Returns null
   * if more than `budget` nodes and leaves would have to be visited.
   */
  countWithin(query: Bbox, budget: number): TreeCount | null {
    const counted: TreeCount = { certain: 0, uncertain: [] }
    const walk = this.walk(query, 0)
    walk.budget = budget
    while (walk.next()) {
      if (walk.isCertain) counted.certain += walk.end - walk.begin
      else counted.uncertain.push(walk.begin)
    }
    return walk.budget < 0 ? null : counted
  }

  /**
   * The runs of features from position `from` on that `decide` does not reject, in snapshot order. `decide`
   * is called with the boxes of nodes: true accepts all features below the node, false or null rejects them
   * all, and undefined descends to its children. Empty runs are yielded from time to time, so that the caller
   * can yield to the event loop.
   */
  *runsWhere(
    decide: (west: number, south: number, east: number, north: number) => boolean | null | undefined,
    from: number,
  ): Generator<TreeRun> {
    const { nodes, leaves, levels } = this.#parts
    const top = levels.length
    const stride = this.isPoints ? 2 : 4
    // With the cursor at the end there is nothing to walk.
    let level = from < this.count ? top : top + 1
    let index = 0
    for (let steps = 1; level <= top && index * SPANS[level]! < this.count; steps++) {
      if (steps % 256 === 0) yield { begin: 0, end: 0, isCertain: false }
      const boxes = level === 0 ? leaves : nodes
      const at = level === 0 ? index * stride : levels[level - 1]! + index * 4
      const to = level === 0 && this.isPoints ? at : at + 2
      const isPassed = (index + 1) * SPANS[level]! <= from
      const decided = isPassed ? false : decide(boxes[at]!, boxes[at + 1]!, boxes[to]!, boxes[to + 1]!)
      if (decided === undefined && level > 0) {
        level--
        index *= FANOUT
        continue
      }
      if (decided === true || decided === undefined) {
        const begin = Math.max(from, index * SPANS[level]!)
        const end = Math.min(this.count, (index + 1) * SPANS[level]!)
        yield { begin, end, isCertain: decided === true }
      }
      index++
      while (level < top && index % FANOUT === 0) {
        index /= FANOUT
        level++
      }
    }
  }
}

/** A query split at the antimeridian. If it does not cross, nothing can intersect the second box. */
interface Sides {
  south: number
  north: number
  west1: number
  east1: number
  west2: number
  east2: number
}

interface TreeParts {
  leaves: Float64Array
  nodes: Float64Array
  /** The index in `nodes` at which each level starts, beginning with level 1. */
  levels: readonly number[]
  count: number
  isPoints: boolean
}

/**
 * A search in progress: `next` finds the next run of hits in snapshot order, taking a node as a whole if it
 * lies inside the query. West > east crosses the antimeridian. It needs no stack: the number of a node
 * determines where its children and its next sibling are. `runsWhere` navigates in the same way, in code of its
 * own: sharing it through a cursor made this search, which serves every page of a box, up to 1.5 times as slow.
 */
export class TreeWalk {
  /** The most recent run, from `begin` to `end` (exclusive). */
  begin = 0
  end = 0
  /** Whether the run's boxes lie inside the query. If they only overlap it, geometries must be tested. */
  isCertain = false
  /** How many more nodes and leaves may be visited. */
  budget = Infinity
  readonly #sides: Sides
  readonly #from: number
  readonly #tree: TreeParts
  readonly #top: number
  #level: number
  #index = 0

  constructor([west, south, east, north]: Bbox, from: number, tree: TreeParts) {
    const crosses = west > east
    this.#sides = {
      south,
      north,
      west1: west,
      east1: crosses ? Infinity : east,
      west2: crosses ? -Infinity : Infinity,
      east2: crosses ? east : -Infinity,
    }
    this.#from = from
    this.#tree = tree
    this.#top = tree.levels.length
    // With the cursor at the end there is nothing to walk.
    this.#level = from < tree.count ? this.#top : this.#top + 1
  }

  /** Advances to the next run of hits; returns false at the end or when the budget is used up. */
  next(): boolean {
    const { nodes, leaves, levels, count, isPoints } = this.#tree
    const { south, north, west1, east1, west2, east2 } = this.#sides
    while (this.#level <= this.#top && this.#index * SPANS[this.#level]! < count) {
      const level = this.#level
      const index = this.#index
      if (level === 0 && isPoints) {
        if (this.#nextPoints()) return true
        if (this.budget < 0) return false
        continue
      }
      if (--this.budget < 0) return false
      const boxes = level === 0 ? leaves : nodes
      const at = (level === 0 ? 0 : levels[level - 1]!) + index * 4
      const w = boxes[at]!
      const s = boxes[at + 1]!
      const e = boxes[at + 2]!
      const n = boxes[at + 3]!
      const meets = s <= north && n >= south && ((w <= east1 && e >= west1) || (w <= east2 && e >= west2))
      if (!meets) {
        this.#moveTo(index + 1)
        continue
      }
      const isInside = s >= south && n <= north && ((w >= west1 && e <= east1) || (w >= west2 && e <= east2))
      if (!isInside && level > 0) {
        this.#level = level - 1
        // Skip the children that end at or before the cursor.
        this.#index = Math.max(index * FANOUT, Math.floor(this.#from / SPANS[level - 1]!))
        continue
      }
      const begin = index * SPANS[level]!
      this.begin = Math.max(begin, this.#from)
      this.end = Math.min(begin + SPANS[level]!, count)
      this.isCertain = isInside
      this.#moveTo(index + 1)
      return true
    }
    this.#level = this.#top + 1
    return false
  }

  /** Finds the next run among the remaining points of one node. This is the hot loop of a search. */
  #nextPoints(): boolean {
    const { leaves, count } = this.#tree
    const { south, north, west1, east1, west2, east2 } = this.#sides
    const first = this.#index
    const stop = Math.min(count, first - (first % FANOUT) + FANOUT)
    let begin = stop
    let position = first
    for (; position < stop; position++) {
      const x = leaves[position * 2]!
      const y = leaves[position * 2 + 1]!
      const meets = y >= south && y <= north && ((x >= west1 && x <= east1) || (x >= west2 && x <= east2))
      if (meets) {
        if (begin === stop) begin = position
      } else if (begin !== stop) break
    }
    this.budget -= position - first
    this.#moveTo(position)
    if (begin === stop || this.budget < 0) return false
    this.begin = begin
    this.end = position
    this.isCertain = true
    return true
  }

  /** Moves to a node of the same level or, past the parent's last child, up to the parent's next sibling. */
  #moveTo(node: number): void {
    let index = node
    while (this.#level < this.#top && index % FANOUT === 0) {
      index /= FANOUT
      this.#level++
    }
    this.#index = index
  }
}
