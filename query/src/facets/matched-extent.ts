import type { IndexTree } from '@wayleave/geodata/features'
import { type Bbox, emptyBbox, isEmptyBbox, roundOutward } from '@wayleave/geodata/geometry'

/**
 * The bounding box of positions, from the boxes of the features in the snapshot's index, so that no geometry is read.
 * Like the extent of a dataset, it never crosses the antimeridian: west is the smallest longitude.
 */
export class MatchedExtent {
  readonly #tree: IndexTree
  #box = emptyBbox()

  constructor(tree: IndexTree) {
    this.#tree = tree
  }

  /** Adds the positions from `begin` to `end` (exclusive). */
  addRun(begin: number, end: number): void {
    const { leaves, count, isPoints } = this.#tree
    const stride = isPoints ? 2 : 4
    const high = isPoints ? 0 : 2
    let [west, south, east, north] = this.#box
    // Positions without a place come after those of the tree.
    const stop = Math.min(end, count) * stride
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
    const { leaves, count, isPoints } = this.#tree
    const stride = isPoints ? 2 : 4
    const high = isPoints ? 0 : 2
    let [west, south, east, north] = this.#box
    for (let i = 0; i < length; i++) {
      if (positions[i]! >= count) continue
      const at = positions[i]! * stride
      if (leaves[at]! < west) west = leaves[at]!
      if (leaves[at + 1]! < south) south = leaves[at + 1]!
      if (leaves[at + high]! > east) east = leaves[at + high]!
      if (leaves[at + high + 1]! > north) north = leaves[at + high + 1]!
    }
    this.#box = [west, south, east, north]
  }

  /** The box, rounded as the collection's extent is; null if no position has a place. */
  result(): Bbox | null {
    return isEmptyBbox(this.#box) ? null : roundOutward(this.#box)
  }
}
