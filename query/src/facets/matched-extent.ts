import { type IndexTree, PositionBits } from '@wayleave/geodata/features'
import { type Bbox, emptyBbox, isEmptyBbox, roundOutward } from '@wayleave/geodata/geometry'
import type { TimedWork } from '../work/timed-work.ts'

/**
 * The bounding box of positions, from the boxes of the features in the snapshot's index, so that no geometry is read.
 * Like the extent of a dataset, it never crosses the antimeridian: west is the smallest longitude.
 */
export class MatchedExtent {
  readonly #tree: IndexTree
  /** The positions, if the index is not in memory as a whole: they are looked at block by block in the end. */
  readonly #positions: PositionBits | null
  #box = emptyBbox()

  constructor(tree: IndexTree) {
    this.#tree = tree
    this.#positions = tree.leaves ? null : PositionBits.empty(tree.count)
  }

  /** Adds the positions from `begin` to `end` (exclusive). */
  addRun(begin: number, end: number): void {
    const { leaves, count, isPoints } = this.#tree
    // Positions without a place come after those of the tree.
    const last = Math.min(end, count)
    if (leaves === null) {
      this.#positions!.addRun(begin, last)
      return
    }
    const stride = isPoints ? 2 : 4
    const high = isPoints ? 0 : 2
    let [west, south, east, north] = this.#box
    const stop = last * stride
    for (let at = begin * stride; at < stop; at += stride) {
      if (leaves[at]! < west) west = leaves[at]!
      if (leaves[at + 1]! < south) south = leaves[at + 1]!
      if (leaves[at + high]! > east) east = leaves[at + high]!
      if (leaves[at + high + 1]! > north) north = leaves[at + high + 1]!
    }
    this.#box = [west, south, east, north]
  }

  /** Adds the first `length` of these positions, in any order. */
  addPositions(positions: Uint32Array, length: number): void {
    const { leaves, count } = this.#tree
    if (leaves !== null) this.#addLeaves(leaves, 0, positions, length)
    else for (let i = 0; i < length; i++) if (positions[i]! < count) this.#positions!.add(positions[i]!)
  }

  /** `leaves` begin with the one at position `first`. */
  #addLeaves(leaves: Float64Array, first: number, positions: ArrayLike<number>, length: number): void {
    const { count, isPoints } = this.#tree
    const stride = isPoints ? 2 : 4
    const high = isPoints ? 0 : 2
    let [west, south, east, north] = this.#box
    for (let i = 0; i < length; i++) {
      if (positions[i]! >= count) continue
      const at = (positions[i]! - first) * stride
      if (leaves[at]! < west) west = leaves[at]!
      if (leaves[at + 1]! < south) south = leaves[at + 1]!
      if (leaves[at + high]! > east) east = leaves[at + high]!
      if (leaves[at + high + 1]! > north) north = leaves[at + high + 1]!
    }
    this.#box = [west, south, east, north]
  }

  /** The box, rounded as the collection's extent is; null if no position has a place. */
  async result(work: TimedWork): Promise<Bbox | null> {
    if (this.#positions) await this.#addBlocks(this.#positions, work)
    return isEmptyBbox(this.#box) ? null : roundOutward(this.#box)
  }

  /** Reads the blocks that may extend the box: after the first ones, few do. */
  async #addBlocks(positions: PositionBits, work: TimedWork): Promise<void> {
    const { leafNumbers, count } = this.#tree
    const size = leafNumbers.mask + 1
    for (let next = positions.next(0); next !== -1; ) {
      const block = next >>> leafNumbers.shift
      const end = Math.min(count, (block + 1) * size)
      const bounds = this.#tree.boundsOf(block * size, end)
      if (bounds && !isEmptyBbox(this.#box) && contains(this.#box, bounds)) next = positions.next(end)
      else {
        const list: number[] = []
        for (; next !== -1 && next < end; next = positions.next(next + 1)) list.push(next)
        this.#addLeaves(await leafNumbers.load(block), block * size, list, list.length)
      }
      await work.next()
    }
  }
}

function contains([west, south, east, north]: Bbox, [w, s, e, n]: Bbox): boolean {
  return w >= west && s >= south && e <= east && n <= north
}
