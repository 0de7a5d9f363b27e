import { doubled } from '../bytes/doubled.ts'

/**
 * Positions of features in a given order, stored as runs of consecutive positions. Features that are adjacent
 * in the pack are read, measured and copied together.
 *
 * See docs/decisions/position-runs.md.
 */
export class PositionRuns {
  /** Pairs of begin and end (exclusive), one pair per run; only the first `length` pairs are valid. */
  bounds = new Uint32Array(32)
  length = 0
  /** The total number of positions in all runs. */
  count = 0
  /** Whether the positions are strictly ascending. */
  isAscending = true

  static of(positions: Iterable<number>): PositionRuns {
    const runs = new PositionRuns()
    for (const position of positions) runs.add(position, position + 1)
    return runs
  }

  /** Adds the positions from `begin` to `end` (exclusive); the range must not be empty. */
  add(begin: number, end: number): void {
    const at = this.length * 2
    this.count += end - begin
    if (at > 0) {
      const last = this.bounds[at - 1]!
      if (begin === last) {
        this.bounds[at - 1] = end
        return
      }
      if (begin < last) this.isAscending = false
    }
    if (at === this.bounds.length) this.bounds = doubled(this.bounds)
    this.bounds[at] = begin
    this.bounds[at + 1] = end
    this.length++
  }

  /** Keeps only the first `count` positions. */
  cut(count: number): void {
    while (this.count > count) {
      const at = this.length * 2
      const surplus = Math.min(this.count - count, this.bounds[at - 1]! - this.bounds[at - 2]!)
      this.bounds[at - 1]! -= surplus
      this.count -= surplus
      if (this.bounds[at - 1] === this.bounds[at - 2]) this.length--
    }
  }

  copy(): PositionRuns {
    const copy = new PositionRuns()
    copy.bounds = this.bounds.slice(0, this.length * 2)
    copy.length = this.length
    copy.count = this.count
    copy.isAscending = this.isAscending
    return copy
  }

  clear(): void {
    this.length = 0
    this.count = 0
    this.isAscending = true
  }

  /** The last position, or -1 if there is none. */
  get last(): number {
    return this.length === 0 ? -1 : this.bounds[this.length * 2 - 1]! - 1
  }

  /** All positions as an array. */
  toArray(): Uint32Array {
    const positions = new Uint32Array(this.count)
    let i = 0
    for (let run = 0; run < this.length; run++) {
      const end = this.bounds[run * 2 + 1]!
      for (let position = this.bounds[run * 2]!; position < end; position++) positions[i++] = position
    }
    return positions
  }
}
