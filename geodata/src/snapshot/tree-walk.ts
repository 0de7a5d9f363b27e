import type { Bbox } from '../geometry/bbox.ts'
import type { IndexNumbers } from './index-numbers.ts'

export const FANOUT = 16
/** The number of leaves below a node of each level; 10 levels suffice for 32-bit positions. */
export const SPANS = Float64Array.from({ length: 10 }, (_, level) => FANOUT ** level)

/** A query split at the antimeridian. If it does not cross, nothing can intersect the second box. */
interface Sides {
  south: number
  north: number
  west1: number
  east1: number
  west2: number
  east2: number
}

/** What a tree consists of. */
export interface TreeParts {
  leaves: IndexNumbers<Float64Array>
  nodes: IndexNumbers<Float64Array>
  /** The item of `nodes` at which each level starts, beginning with level 1. */
  levels: readonly number[]
  count: number
  isPoints: boolean
  /** The block that was needed last and was not in memory. */
  missing: { numbers: IndexNumbers<Float64Array>; block: number } | null
}

const NO_NUMBERS = new Float64Array(0)

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
  /** Whether the last call of `next` returned false because a block has to be read: see `IndexTree.loadMissing`. */
  isBlocked = false
  /** Whether a block that may have to be read uses up the budget. */
  isPinnedOnly = false
  readonly #sides: Sides
  readonly #from: number
  readonly #tree: TreeParts
  readonly #top: number
  #level: number
  #index = 0
  /** The current block of leaves and of nodes. Holding them is cheaper than looking them up for each node. */
  #leafBlock = -1
  #leaves: Float64Array = NO_NUMBERS
  #nodeBlock = -1
  #nodes: Float64Array = NO_NUMBERS

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

  /** Advances to the next run of hits; returns false at the end, when the budget is used up, or when it is blocked. */
  next(): boolean {
    const { levels, count, isPoints } = this.#tree
    const { south, north, west1, east1, west2, east2 } = this.#sides
    this.isBlocked = false
    while (this.#level <= this.#top && this.#index * SPANS[this.#level]! < count) {
      const level = this.#level
      const index = this.#index
      if (level === 0 && isPoints) {
        if (this.#nextPoints()) return true
        if (this.budget < 0 || this.isBlocked) return false
        continue
      }
      const at = level === 0 ? this.#enterLeaf(index) : this.#enterNode(levels[level - 1]! + index)
      if (at === -1 || --this.budget < 0) return false
      const boxes = level === 0 ? this.#leaves : this.#nodes
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
    const { count } = this.#tree
    const { south, north, west1, east1, west2, east2 } = this.#sides
    const first = this.#index
    // The points of a node are in one block.
    const at = this.#enterLeaf(first)
    if (at === -1) return false
    const leaves = this.#leaves
    const offset = at - first * 2
    const stop = Math.min(count, first - (first % FANOUT) + FANOUT)
    let begin = stop
    let position = first
    for (; position < stop; position++) {
      const x = leaves[offset + position * 2]!
      const y = leaves[offset + position * 2 + 1]!
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

  /** Where a leaf is in `#leaves`; -1 if its block has to be read. */
  #enterLeaf(leaf: number): number {
    const { leaves } = this.#tree
    const block = leaf >>> leaves.shift
    if (block !== this.#leafBlock) {
      const numbers = this.#block(leaves, block)
      if (numbers === undefined) return -1
      this.#leafBlock = block
      this.#leaves = numbers
    }
    return (leaf & leaves.mask) * leaves.width
  }

  /** The same of a node in `#nodes`. */
  #enterNode(node: number): number {
    const { nodes } = this.#tree
    const block = node >>> nodes.shift
    if (block !== this.#nodeBlock) {
      const numbers = this.#block(nodes, block)
      if (numbers === undefined) return -1
      this.#nodeBlock = block
      this.#nodes = numbers
    }
    return (node & nodes.mask) * 4
  }

  #block(numbers: IndexNumbers<Float64Array>, block: number): Float64Array | undefined {
    if (this.isPinnedOnly && !numbers.isPinned(block)) {
      this.budget = -1
      return undefined
    }
    const boxes = numbers.peek(block)
    if (boxes === undefined) {
      this.#tree.missing = { numbers, block }
      this.isBlocked = true
    }
    return boxes
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
