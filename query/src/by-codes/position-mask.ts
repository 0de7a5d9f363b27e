import { BLOCK_ROWS, BLOCK_SHIFT, wordsOf } from '@wayleave/geodata/features'

/** What is known about all positions of a block. */
export const NO_POSITIONS = 0
export const SOME_POSITIONS = 1
export const ALL_POSITIONS = 2

/**
 * A set of positions with one bit per position, in words, so that it is combined with the bits of codes. It is not a
 * `PositionBits`, because it counts the positions of each block.
 */
export class PositionMask {
  /** The number of all positions. */
  readonly #size: number
  /** Bit `position % 32` of word `position / 32` is 1 for the positions of the set. */
  readonly words: Int32Array
  /** How many positions of each block are in the set. */
  readonly #blockCounts: Uint16Array
  #count = 0

  constructor(size: number) {
    this.#size = size
    this.words = new Int32Array(wordsOf(size))
    this.#blockCounts = new Uint16Array(Math.ceil(size / BLOCK_ROWS))
  }

  get count(): number {
    return this.#count
  }

  /** Its memory. */
  get bytes(): number {
    return PositionMask.bytesOf(this.#size)
  }

  /** The memory of a set of so many positions. */
  static bytesOf(size: number): number {
    return wordsOf(size) * 4 + Math.ceil(size / BLOCK_ROWS) * 2
  }

  /** Adds the positions from `begin` to `end` (exclusive), none of which may be in the set yet. */
  addRun(begin: number, end: number): void {
    setRun(this.words, begin, end)
    this.#count += end - begin
    for (let from = begin; from < end; ) {
      const block = from >>> BLOCK_SHIFT
      const to = Math.min(end, (block + 1) << BLOCK_SHIFT)
      this.#blockCounts[block]! += to - from
      from = to
    }
  }

  blockState(block: number): number {
    const count = this.#blockCounts[block]!
    if (count === 0) return NO_POSITIONS
    const size = Math.min(BLOCK_ROWS, this.#size - (block << BLOCK_SHIFT))
    return count === size ? ALL_POSITIONS : SOME_POSITIONS
  }
}

/** Sets the bits from `begin` to `end` (exclusive), of which there is at least one. */
function setRun(words: Int32Array, begin: number, end: number): void {
  const first = begin >>> 5
  const last = (end - 1) >>> 5
  const fromBegin = -1 << begin
  const untilEnd = -1 >>> -end
  if (first === last) {
    words[first]! |= fromBegin & untilEnd
    return
  }
  words[first]! |= fromBegin
  words.fill(-1, first + 1, last)
  words[last]! |= untilEnd
}
