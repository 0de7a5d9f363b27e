import type { Bbox } from '../geometry/bbox.ts'
import { IndexNumbers } from './index-numbers.ts'
import { FANOUT, SPANS, type TreeParts, TreeWalk } from './tree-walk.ts'

/**
 * A packed R-tree over features that are already in Hilbert order. It is built bottom-up without another
 * sort, so leaf i is feature i, and node j of level l covers exactly the leaves j·16ˡ to (j+1)·16ˡ−1. Hits
 * are therefore returned in snapshot order, and a subtree at or before a cursor is skipped as a whole.
 *
 * The boxes are in blocks, some of which may have to be read. A search that needs one stops: it is blocked. After
 * `loadMissing` it continues where it was.
 */

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

/**
 * Features from `begin` to `end` (exclusive). An uncertain feature is a run of its own. If the search is blocked, the
 * run is empty.
 */
export interface TreeRun {
  begin: number
  end: number
  isCertain: boolean
  isBlocked: boolean
}

export class IndexTree {
  readonly count: number
  /** Whether every leaf is a point, which makes every hit certain. */
  readonly isPoints: boolean
  readonly #parts: TreeParts

  constructor(
    count: number,
    isPoints: boolean,
    leaves: IndexNumbers<Float64Array>,
    nodes: TreeParts['nodes'],
  ) {
    const levels: number[] = []
    this.isPoints = isPoints
    this.count = count
    this.#parts = { leaves, nodes, levels, count, isPoints, missing: null }
    let start = 0
    for (let size = count; size > 1; ) {
      size = Math.ceil(size / FANOUT)
      levels.push(start)
      start += size
    }
  }

  /** A tree that is in memory as a whole. */
  static of(leaves: Float64Array, isPoints: boolean, nodes: Float64Array): IndexTree {
    const width = isPoints ? 2 : 4
    const boxes = IndexNumbers.whole(leaves, width)
    return new IndexTree(leaves.length / width, isPoints, boxes, IndexNumbers.whole(nodes, 4))
  }

  /**
   * The points (x, y) or boxes (west, south, east, north) of all features, in snapshot order; null if the tree is not
   * in memory as a whole.
   */
  get leaves(): Float64Array | null {
    return this.#parts.leaves.all
  }

  /** The same in blocks. */
  get leafNumbers(): IndexNumbers<Float64Array> {
    return this.#parts.leaves
  }

  /** Reads the block that a search or `box` needed last. It must be called before anything else uses the tree. */
  async loadMissing(): Promise<void> {
    const { missing } = this.#parts
    this.#parts.missing = null
    await missing?.numbers.load(missing.block)
  }

  /** The bounding box of the feature at a position; undefined if it is not in memory. */
  box(position: number): Bbox | undefined {
    const { leaves } = this.#parts
    const number = position >>> leaves.shift
    const block = leaves.peek(number)
    if (block === undefined) {
      this.#parts.missing = { numbers: leaves, block: number }
      return undefined
    }
    const at = (position & leaves.mask) * leaves.width
    const high = this.isPoints ? at : at + 2
    return [block[at]!, block[at + 1]!, block[high]!, block[high + 1]!]
  }

  /**
   * A box that has all features from position `from` to `to` (exclusive), from the nodes that cover them; undefined if
   * these are not in memory or there are none.
   */
  boundsOf(from: number, to: number): Bbox | undefined {
    const { nodes, levels } = this.#parts
    let level = Math.min(levels.length, SPANS.length - 1)
    while (level > 0 && SPANS[level]! > to - from) level--
    if (level === 0) return undefined
    const bounds: Bbox = [Infinity, Infinity, -Infinity, -Infinity]
    const last = Math.ceil(Math.min(to, this.count) / SPANS[level]!)
    for (let index = Math.floor(from / SPANS[level]!); index < last; index++) {
      const node = levels[level - 1]! + index
      const boxes = nodes.peek(node >>> nodes.shift)
      if (boxes === undefined) return undefined
      const at = (node & nodes.mask) * 4
      bounds[0] = Math.min(bounds[0], boxes[at]!)
      bounds[1] = Math.min(bounds[1], boxes[at + 1]!)
      bounds[2] = Math.max(bounds[2], boxes[at + 2]!)
      bounds[3] = Math.max(bounds[3], boxes[at + 3]!)
    }
    return bounds
  }

  /** A search for the features from position `from` on whose boxes intersect the query, returned as runs. */
  walk(query: Bbox, from: number): TreeWalk {
    return new TreeWalk(query, from, this.#parts)
  }

  /** Which parts of the snapshot, of `size` features each, have features that intersect the query. */
  async partsIn(query: Bbox, size: number): Promise<Set<number>> {
    const parts = new Set<number>()
    let from = 0
    while (from < this.count) {
      const walk = this.walk(query, from)
      let isFound = walk.next()
      // The walk goes on where it stopped: one that began again would need all blocks of its way at once.
      while (!isFound && walk.isBlocked) {
        await this.loadMissing()
        isFound = walk.next()
      }
      if (!isFound) break
      const last = Math.floor((walk.end - 1) / size)
      for (let part = Math.floor(walk.begin / size); part <= last; part++) parts.add(part)
      // What else is in these parts does not matter.
      from = (last + 1) * size
    }
    return parts
  }

  /**
   * Counts the features that intersect the query; nodes inside the query are counted as a whole. Returns null
   * if more than `budget` nodes and leaves would have to be visited, and undefined if it is blocked.
   */
  countWithin(query: Bbox, budget: number): TreeCount | null | undefined {
    const walk = this.walk(query, 0)
    const counted = countRuns(walk, budget)
    return walk.isBlocked ? undefined : counted
  }

  /**
   * The same if it can be counted by what always is in memory, otherwise null: the result does not depend on what was
   * read before.
   */
  countByPinned(query: Bbox, budget: number): TreeCount | null {
    const walk = this.walk(query, 0)
    walk.isPinnedOnly = true
    return countRuns(walk, budget)
  }

  /**
   * The runs of features from position `from` on that `decide` does not reject, in snapshot order. `decide`
   * is called with the boxes of nodes: true accepts all features below the node, false or null rejects them
   * all, and undefined descends to its children. Empty runs are yielded from time to time, so that the caller
   * can yield to the event loop, and when the search is blocked.
   */
  *runsWhere(
    decide: (west: number, south: number, east: number, north: number) => boolean | null | undefined,
    from: number,
  ): Generator<TreeRun> {
    const { nodes, leaves, levels } = this.#parts
    const top = levels.length
    // With the cursor at the end there is nothing to walk.
    let level = from < this.count ? top : top + 1
    let index = 0
    for (let steps = 1; level <= top && index * SPANS[level]! < this.count; steps++) {
      if (steps % 256 === 0) yield { begin: 0, end: 0, isCertain: false, isBlocked: false }
      const numbers = level === 0 ? leaves : nodes
      const item = level === 0 ? index : levels[level - 1]! + index
      const boxes = numbers.peek(item >>> numbers.shift)
      if (boxes === undefined) {
        this.#parts.missing = { numbers, block: item >>> numbers.shift }
        yield { begin: 0, end: 0, isCertain: false, isBlocked: true }
        continue
      }
      const at = (item & numbers.mask) * numbers.width
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
        yield { begin, end, isCertain: decided === true, isBlocked: false }
      }
      index++
      while (level < top && index % FANOUT === 0) {
        index /= FANOUT
        level++
      }
    }
  }
}

/** What a walk finds; null if more than `budget` nodes and leaves would have to be visited. */
function countRuns(walk: TreeWalk, budget: number): TreeCount | null {
  const counted: TreeCount = { certain: 0, uncertain: [] }
  walk.budget = budget
  while (walk.next()) {
    if (walk.isCertain) counted.certain += walk.end - walk.begin
    else counted.uncertain.push(walk.begin)
  }
  return walk.budget < 0 ? null : counted
}
