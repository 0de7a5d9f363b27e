import type { PositionRuns } from './position-runs.ts'

const FIRST_BIT = 0x80
const ALL_BITS = 0xff
const FIRST_BIT_OF_WORD = 0x8000_0000

/**
 * A set of positions of a snapshot with one bit for each of its features. It is in shared memory, so that threads get
 * it without a copy, and in the form of DuckDB's type BIT, so that a query can test `file_row_number` against it. A
 * list of a million positions would take 32 times as much; making and discarding such a list for each filter of a map
 * kept the garbage collector busy, with stalls of 10 to 30 ms.
 */
export class PositionBits {
  /** The first position of a byte is its highest bit. The length is a multiple of 4. */
  readonly bytes: Uint8Array<SharedArrayBuffer>
  readonly #words: DataView
  /** The same bytes, to skip empty words in whatever order their bytes are. */
  readonly #skipped: Int32Array

  private constructor(bytes: Uint8Array<SharedArrayBuffer>) {
    this.bytes = bytes
    this.#words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#skipped = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
  }

  /** An empty set of positions below `size`. */
  static empty(size: number): PositionBits {
    return new PositionBits(new Uint8Array(new SharedArrayBuffer(Math.ceil(size / 32) * 4)))
  }

  /** The set that another thread has sent. */
  static of(bytes: Uint8Array<SharedArrayBuffer>): PositionBits {
    return new PositionBits(bytes)
  }

  add(position: number): void {
    this.bytes[position >>> 3]! |= FIRST_BIT >>> (position & 7)
  }

  /** Adds the first `count` of these positions. */
  addFirst(count: number, positions: Uint32Array): void {
    const { bytes } = this
    for (let i = 0; i < count; i++) {
      const position = positions[i]!
      bytes[position >>> 3]! |= FIRST_BIT >>> (position & 7)
    }
  }

  /** Adds the positions from `begin` to `end` (exclusive). */
  addRun(begin: number, end: number): void {
    if (begin >= end) return
    const { bytes } = this
    const first = begin >>> 3
    const last = (end - 1) >>> 3
    const fromBegin = ALL_BITS >>> (begin & 7)
    const untilEnd = ALL_BITS << (7 - ((end - 1) & 7))
    if (first === last) {
      bytes[first]! |= fromBegin & untilEnd
      return
    }
    bytes[first]! |= fromBegin
    bytes.fill(ALL_BITS, first + 1, last)
    bytes[last]! |= untilEnd
  }

  addRuns({ bounds, length }: PositionRuns): void {
    for (let run = 0; run < length; run++) this.addRun(bounds[run * 2]!, bounds[run * 2 + 1]!)
  }

  /** Removes the positions that are not in the other set, which has the same size. */
  intersect(other: PositionBits): void {
    const { bytes } = this
    for (let i = 0; i < bytes.length; i++) bytes[i]! &= other.bytes[i]!
  }

  has(position: number): boolean {
    return (this.bytes[position >>> 3]! & (FIRST_BIT >>> (position & 7))) !== 0
  }

  /** The number of positions in the set. */
  count(): number {
    return this.#countBelow(this.bytes.length * 8)
  }

  /** The next position in the set at or after `from`, or -1. */
  next(from: number): number {
    const { bytes } = this
    let bits = ALL_BITS >>> (from & 7)
    for (let i = from >>> 3; i < bytes.length; ) {
      bits &= bytes[i]!
      if (bits !== 0) return i * 8 + Math.clz32(bits) - 24
      bits = ALL_BITS
      i++
      if ((i & 3) === 0) while (this.#skipped[i >>> 2] === 0) i += 4
    }
    return -1
  }

  /** The last position in the set, or -1. */
  last(): number {
    const { bytes } = this
    for (let i = bytes.length - 1; i >= 0; i--) {
      const bits = bytes[i]!
      // The lowest bit that is set is the last position.
      if (bits !== 0) return i * 8 + Math.clz32(bits & -bits) - 24
    }
    return -1
  }

  /** The positions below `limit`, ascending. */
  listBelow(limit: number): Uint32Array {
    const list = new Uint32Array(this.#countBelow(limit))
    let count = 0
    for (let at = 0; count < list.length; at += 4) {
      for (let word = this.#words.getUint32(at); word !== 0 && count < list.length; ) {
        const bit = Math.clz32(word)
        list[count++] = at * 8 + bit
        word &= ~(FIRST_BIT_OF_WORD >>> bit)
      }
    }
    return list
  }

  #countBelow(limit: number): number {
    const words = this.#words
    const whole = Math.min(words.byteLength, (limit >>> 5) * 4)
    let count = 0
    for (let at = 0; at < whole; at += 4) count += bitsIn(words.getUint32(at))
    const rest = limit & 31
    if (whole < words.byteLength && rest > 0) count += bitsIn(words.getUint32(whole) & (-1 << (32 - rest)))
    return count
  }
}

/** The number of bits of a word that are set, by adding ever wider groups of bits. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
