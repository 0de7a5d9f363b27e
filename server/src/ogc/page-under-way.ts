/** Matches as they come: the first `skip` are passed over, and one more than the limit is wanted. */
export class PageUnderWay {
  readonly positions: Uint32Array
  count = 0
  #skip: number

  constructor(skip: number, limit: number) {
    this.#skip = skip
    this.positions = new Uint32Array(limit + 1)
  }

  get isFull(): boolean {
    return this.count === this.positions.length
  }

  /** How many more matches are wanted. */
  get wanted(): number {
    return this.#skip + this.positions.length - this.count
  }

  takeSkip(): number {
    const skip = this.#skip
    this.#skip = 0
    return skip
  }

  add(position: number): void {
    if (this.#skip > 0) this.#skip--
    else this.positions[this.count++] = position
  }

  /** The positions from `begin` to `end` (excluded), as far as they are wanted. */
  addRun(begin: number, end: number): void {
    const skipped = Math.min(this.#skip, end - begin)
    this.#skip -= skipped
    for (let position = begin + skipped; position < end && !this.isFull; position++) this.add(position)
  }
}
