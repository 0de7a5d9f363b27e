import { PositionRuns } from '@wayleave/geodata/pack/position-runs.ts'
import type { Selected } from './selected.ts'

/** Matches as they come: the first `skip` are passed over, and one more than the limit is wanted. */
export class PageUnderWay {
  readonly #runs: PositionRuns
  readonly #limit: number
  #skip: number

  /** They are put into `runs`, where there are some that nobody needs any more. */
  constructor(skip: number, limit: number, runs: PositionRuns = new PositionRuns()) {
    this.#skip = skip
    this.#limit = limit
    this.#runs = runs
    runs.clear()
  }

  get isFull(): boolean {
    return this.#runs.count > this.#limit
  }

  /** How many more matches are wanted. */
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

  /** The positions from `begin` to `end` (excluded), as far as they are wanted. */
  addRun(begin: number, end: number): void {
    const skipped = Math.min(this.#skip, end - begin)
    this.#skip -= skipped
    const from = begin + skipped
    const to = Math.min(end, from + this.#limit + 1 - this.#runs.count)
    if (from < to) this.#runs.add(from, to)
  }

  /** The page, of which the one more tells that there are others. */
  finish(): Selected {
    const more = this.isFull
    this.#runs.cut(this.#limit)
    return { runs: this.#runs, more }
  }
}
