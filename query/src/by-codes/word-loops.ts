/*
 * The loops over bitmaps: one bit per position, 32 in a word. `| 0` tells V8 that no result exceeds 32 bits, so that it
 * does not test for an overflow after every operation; with such tests the loops take half as long again.
 */

export function keepBits(words: Int32Array, other: Int32Array): void {
  for (let i = 0; i < words.length; i = (i + 1) | 0) words[i]! &= other[i]!
}

export function addBits(words: Int32Array, other: Int32Array): void {
  for (let i = 0; i < words.length; i = (i + 1) | 0) words[i]! |= other[i]!
}

export function removeBits(words: Int32Array, other: Int32Array): void {
  for (let i = 0; i < words.length; i = (i + 1) | 0) words[i]! &= ~other[i]!
}

/** Sets the bits of `positions[from]` to `positions[to - 1]`. */
export function setPositions(words: Int32Array, positions: Uint32Array, from: number, to: number): void {
  for (let i = from | 0; i < to; i = (i + 1) | 0) {
    const position = positions[i]!
    words[position >>> 5]! |= 1 << position
  }
}

export function clearPositions(words: Int32Array, positions: Uint32Array, from: number, to: number): void {
  for (let i = from | 0; i < to; i = (i + 1) | 0) {
    const position = positions[i]!
    words[position >>> 5]! &= ~(1 << position)
  }
}

/** The number of bits that are set below `size`. The bits behind are ignored. */
export function countBits(words: Int32Array, size: number): number {
  const whole = size >>> 5
  let count = 0
  for (let i = 0; i < whole; i = (i + 1) | 0) count = (count + bitsOf(words[i]!)) | 0
  return size % 32 === 0 ? count : count + bitsOf(words[whole]! & ~(-1 << size))
}

/** Writes the positions whose bits are set, the first of which is `first`, and returns how many there are. */
export function positionsOfBits(words: Int32Array, first: number, positions: Uint32Array): number {
  let count = 0
  for (let i = 0; i < words.length; i = (i + 1) | 0) {
    for (let word = words[i]!; word !== 0; word &= word - 1) {
      positions[count] = first + i * 32 + (31 - Math.clz32(word & -word))
      count = (count + 1) | 0
    }
  }
  return count
}

function bitsOf(word: number): number {
  const pairs = (word - ((word >>> 1) & 0x5555_5555)) | 0
  const nibbles = ((pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)) | 0
  const bytes = (nibbles + (nibbles >>> 4)) & 0x0f0f_0f0f
  return Math.imul(bytes, 0x0101_0101) >>> 24
}
