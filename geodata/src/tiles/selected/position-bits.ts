const WORD_BITS = 32
const WORD_SHIFT = 5
const FIRST_BIT = 0x8000_0000
const ALL_BITS = 0xffff_ffff

/**
 * A set of positions of a snapshot with one bit for each of its features, in shared memory, so that threads get it
 * without a copy. A list of a million positions would take 32 times as much; making and discarding such a list for
 * each filter of a map kept the garbage collector busy, with stalls of 10 to 30 ms.
 */
export class PositionBits {
  /** The first position of a word is its highest bit. */
  readonly words: Uint32Array<SharedArrayBuffer>

  private constructor(words: Uint32Array<SharedArrayBuffer>) {
    this.words = words
  }

  /** An empty set of positions below `size`. */
  static empty(size: number): PositionBits {
    return new PositionBits(new Uint32Array(new SharedArrayBuffer(Math.ceil(size / WORD_BITS) * 4)))
  }

  /** The set that another thread has sent. */
  static of(words: Uint32Array<SharedArrayBuffer>): PositionBits {
    return new PositionBits(words)
  }

  add(position: number): void {
    this.words[position >>> WORD_SHIFT]! |= FIRST_BIT >>> (position & 31)
  }

  /** Adds the first `count` of these positions. */
  addFirst(count: number, positions: Uint32Array): void {
    const { words } = this
    for (let i = 0; i < count; i++) {
      const position = positions[i]!
      words[position >>> WORD_SHIFT]! |= FIRST_BIT >>> (position & 31)
    }
  }

  /** Adds the positions from `begin` to `end` (exclusive). */
  addRun(begin: number, end: number): void {
    if (begin >= end) return
    const { words } = this
    const first = begin >>> WORD_SHIFT
    const last = (end - 1) >>> WORD_SHIFT
    const fromBegin = ALL_BITS >>> (begin & 31)
    const untilEnd = ALL_BITS << (31 - ((end - 1) & 31))
    if (first === last) {
      words[first]! |= fromBegin & untilEnd
      return
    }
    words[first]! |= fromBegin
    words.fill(ALL_BITS, first + 1, last)
    words[last]! |= untilEnd
  }

  has(position: number): boolean {
    return (this.words[position >>> WORD_SHIFT]! & (FIRST_BIT >>> (position & 31))) !== 0
  }

  /** The positions below `limit`, ascending. */
  listBelow(limit: number): Uint32Array {
    const { words } = this
    const list = new Uint32Array(this.#countBelow(limit))
    let count = 0
    for (let i = 0; count < list.length; i++) {
      const base = i << WORD_SHIFT
      for (let word = words[i]!; word !== 0 && count < list.length; ) {
        const bit = Math.clz32(word)
        list[count++] = base + bit
        word &= ~(FIRST_BIT >>> bit)
      }
    }
    return list
  }

  #countBelow(limit: number): number {
    const { words } = this
    const whole = Math.min(words.length, limit >>> WORD_SHIFT)
    let count = 0
    for (let i = 0; i < whole; i++) count += bitsIn(words[i]!)
    const rest = limit & 31
    if (whole < words.length && rest > 0) count += bitsIn(words[whole]! & (ALL_BITS << (WORD_BITS - rest)))
    return count
  }
}

/** The number of bits of a word that are set, by adding ever wider groups of bits. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
