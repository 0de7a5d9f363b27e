import { PositionRuns } from '@wayleave/geodata/features'
import type { PositionTaker } from './position-taker.ts'
import type { Selected } from './selected.ts'

/** Collects matches in order: skips the first `skip` and takes up to one more than the limit. */
export class PageBuilder implements PositionTaker {
  readonly #runs: PositionRuns
  readonly #limit: number
  #skip: number

  /** Matches are put into `runs`, which may be an existing object that is no longer in use. */
  constructor(skip: number, limit: number, runs: PositionRuns = new PositionRuns()) {
    this.#skip = skip
    this.#limit = limit
    this.#runs = runs
    runs.clear()
  }

  get isFull(): boolean {
    return this.#runs.count > this.#limit
  }

  /** How many more matches are needed. */
  get wanted(): number {
    return this.#skip + this.#limit + 1 - this.#runs.count
  }

  takeSkip(): number {
    const skip = this.#skip
    this.#skip = 0
    return skip
  }

  add(position: number): void {
    this.addRun(position, position + 1)
  }

  /** Adds the positions from `begin` to `end` (exclusive), as far as they are needed. */
  addRun(begin: number, end: number): void {
    const skipped = Math.min(this.#skip, end - begin)
    this.#skip -= skipped
    const from = begin + skipped
    const to = Math.min(end, from + this.#limit + 1 - this.#runs.count)
    if (from < to) this.#runs.add(from, to)
  }

  take(position: number): boolean {
    this.addRun(position, position + 1)
    return this.isFull
  }

  takeRun(begin: number, end: number): boolean {
    this.addRun(begin, end)
    return this.isFull
  }

  takeList(positions: Uint32Array, count: number): boolean {
    for (let i = 0; i < count; i++) if (this.take(positions[i]!)) return true
    return false
  }

  /** The page. The one match beyond the limit shows that there are more features. */
  finish(): Selected {
    const more = this.isFull
    this.#runs.cut(this.#limit)
    return { runs: this.#runs, more }
  }
}
