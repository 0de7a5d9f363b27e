import type { Bbox } from '../geometry/bbox.ts'

/**
 * A packed R-tree over features that stand in Hilbert order already. It is built bottom-up without sorting
 * again, so leaf i is feature i, and node j of level l covers exactly the leaves j·16ˡ to (j+1)·16ˡ−1: hits come
 * out in snapshot order, and a subtree at or before a cursor is skipped whole.
 */

const FANOUT = 16
/** How many leaves a node of each level covers; positions are 32 bits wide. */
const SPANS = Float64Array.from({ length: 10 }, (_, level) => FANOUT ** level)

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

export interface TreeCount {
  /** Features whose box lies in the query: they match for sure. */
  certain: number
  /** Positions of features whose box only overlaps the query: their geometry decides. */
  uncertain: number[]
}

/** Features from `begin` to `end` (excluded); those that are not certain stand alone. */
export interface TreeRun {
  begin: number
  end: number
  isCertain: boolean
}

export class IndexTree {
  readonly count: number
  /** Whether every leaf is a point: then every hit is certain. */
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

  /** The box of the feature at a position. */
  box(position: number): Bbox {
    const { leaves } = this.#parts
    if (this.isPoints) {
      const [x, y] = [leaves[position * 2]!, leaves[position * 2 + 1]!]
      return [x, y, x, y]
    }
    const at = position * 4
    return [leaves[at]!, leaves[at + 1]!, leaves[at + 2]!, leaves[at + 3]!]
  }

  /** The features from position `from` on whose boxes meet the query, to be gone through in runs. */
  walk(query: Bbox, from: number): TreeWalk {
    return new TreeWalk(query, from, this.#parts)
  }

  /**
   * How many features meet the query, by counting contained nodes whole; null where more than `budget` nodes
   * and leaves would have to be looked at.
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
   * The runs of features from position `from` on that `decide` does not decide against, in snapshot order.
   * It is asked about the boxes of nodes, and of their children where it leaves a node open: true is for all
   * features below, false or null for none, undefined for an open one. Now and then a run of none is among
   * them, so that who walks can let others have their turn.
   */
  *runsWhere(
    decide: (west: number, south: number, east: number, north: number) => boolean | null | undefined,
    from: number,
  ): Generator<TreeRun> {
    const { nodes, leaves, levels } = this.#parts
    const top = levels.length
    const stride = this.isPoints ? 2 : 4
    // A cursor at the end leaves nothing to walk.
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

/** A query, and the part of it beyond the antimeridian; otherwise that is a box which nothing meets. */
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
  /** Where each level starts in `nodes`; level 1 is the first. */
  levels: readonly number[]
  count: number
  isPoints: boolean
}

/**
 * A search under way: `next` finds the next run of hits, in snapshot order, whole nodes at once where they lie
 * inside the query. West > east crosses the antimeridian. It holds no stack: a node's number says where its
 * children and its parent's next child are.
 */
export class TreeWalk {
  /** The run found last, from `begin` to `end` (excluded). */
  begin = 0
  end = 0
  /** Whether the boxes of the run lie inside the query; where they only overlap it, geometries decide. */
  isCertain = false
  /** How many more nodes and leaves may be looked at. */
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
    // A cursor at the end leaves nothing to walk.
    this.#level = from < tree.count ? this.#top : this.#top + 1
  }

  /** Walks on to the next run of hits; false at the end or beyond the budget. */
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
        // The children that end at or before the cursor are not even looked at.
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

  /** The next run among the points that are left of one node: most of what a search looks at. */
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

  /** To a node of the same level, or up to the node that follows its parent's last. */
  #moveTo(node: number): void {
    let index = node
    while (this.#level < this.#top && index % FANOUT === 0) {
      index /= FANOUT
      this.#level++
    }
    this.#index = index
  }
}
