import type { IndexTree, Snapshot } from '@wayleave/geodata/features'
import type { Bbox } from '@wayleave/geodata/geometry'
import type { DecideInBox } from '../cql2/evaluate/decide-in-box.ts'
import type { TimedWork } from '../work/timed-work.ts'

/**
 * A set of positions as a bit set, as the tree finds them in a box. The first position of a byte is its
 * highest bit.
 */
export class PositionSet {
  readonly bytes: Uint8Array
  /** All positions are between `first` and `last` (inclusive); first > last if the set is empty. */
  first = Infinity
  last = -1
  count = 0

  constructor(size: number) {
    this.bytes = new Uint8Array(Math.ceil(size / 8))
  }

  /** The features whose bounding boxes intersect the box and, if wanted, those without a geometry. */
  static inBox(tree: IndexTree, size: number, box: Bbox, withPlaceless = false): PositionSet {
    const set = new PositionSet(size)
    const walk = tree.walk(box, 0)
    while (walk.next()) set.#addRun(walk.begin, walk.end)
    if (withPlaceless && tree.count < size) set.#addRun(tree.count, size)
    return set
  }

  /** The features that `decide` does not rule out by their boxes, and all features without a box. */
  static async where(
    tree: IndexTree,
    size: number,
    decide: DecideInBox,
    work: TimedWork,
  ): Promise<PositionSet> {
    const set = new PositionSet(size)
    for (const { begin, end } of tree.runsWhere(decide, 0)) {
      if (begin < end) set.#addRun(begin, end)
      await work.next()
    }
    if (tree.count < size) set.#addRun(tree.count, size)
    return set
  }

  /** The given positions, which are ascending. */
  static of(size: number, positions: readonly number[]): PositionSet {
    const set = new PositionSet(size)
    for (const position of positions) set.#addRun(position, position + 1)
    return set
  }

  has(position: number): boolean {
    return (this.bytes[position >>> 3]! & (0x80 >>> (position & 7))) !== 0
  }

  /** Removes the positions that are not in the other set. */
  intersect(other: PositionSet): void {
    const { bytes } = this
    for (let i = 0; i < bytes.length; i++) bytes[i]! &= other.bytes[i]!
    const [first, last] = [Math.max(this.first, other.first), Math.min(this.last, other.last)]
    this.first = Infinity
    this.last = -1
    this.count = 0
    for (let position = first; position <= last; position++) {
      if (!this.has(position)) continue
      if (this.count++ === 0) this.first = position
      this.last = position
    }
  }

  /** The next position in the set at or after `from`, or -1. */
  next(from: number): number {
    for (let position = Math.max(from, this.first); position <= this.last; position++) {
      if (this.bytes[position >>> 3] === 0) position |= 7
      else if (this.has(position)) return position
    }
    return -1
  }

  #addRun(begin: number, end: number): void {
    if (this.count === 0) this.first = begin
    this.last = end - 1
    this.count += end - begin
    const { bytes } = this
    let position = begin
    for (; position < end && (position & 7) !== 0; position++)
      bytes[position >>> 3]! |= 0x80 >>> (position & 7)
    const whole = Math.max(position, end - (end & 7))
    if (whole > position) bytes.fill(0xff, position >>> 3, whole >>> 3)
    for (position = whole; position < end; position++) bytes[position >>> 3]! |= 0x80 >>> (position & 7)
  }
}

/** The positions of the features with these ids; ids that no feature has are ignored. */
export async function positionsOf(
  snapshot: Snapshot,
  ids: readonly string[] | null,
): Promise<PositionSet | null> {
  if (ids === null) return null
  const idPositions = await Promise.all(ids.map((id) => snapshot.findById(id)))
  const positions = idPositions.filter((position) => position !== -1).sort((a, b) => a - b)
  return PositionSet.of(snapshot.manifest.rows, positions)
}
