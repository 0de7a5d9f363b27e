import { BLOCK_ROWS, type Codes } from '@wayleave/geodata/features'
import { loadVectorProgram } from './vector-program.ts'

/**
 * Sets bit i for the position `from` + i if its code is in the range [low, high), which is not empty, and clears it for
 * the others before `to`. There are at most as many positions as in a block. The words are valid until the next call;
 * the bits behind the last position are of no meaning.
 */
type RangeBits = (codes: Codes, from: number, to: number, low: number, high: number) => Int32Array

const BLOCK_WORDS = BLOCK_ROWS / 32
/** The codes of a block in one width: a loop that gets arrays of three widths takes three to five times as long. */
const wide = new Uint32Array(BLOCK_ROWS)
const loopWords = new Int32Array(BLOCK_WORDS)
let chosen: RangeBits | null = null

/** The fastest way on this machine. */
export const rangeBits: RangeBits = (codes, from, to, low, high) => {
  chosen ??= vectorRangeBits() ?? loopRangeBits
  return chosen(codes, from, to, low, high)
}

/** By a program with vectors: the codes are copied to its memory. Null if the processor has none. */
export function vectorRangeBits(): RangeBits | null {
  const program = loadVectorProgram()
  if (program === null) return null
  const { buffer } = program.memory
  const [codes8, codes16] = [new Uint8Array(buffer, 0, BLOCK_ROWS), new Uint16Array(buffer, 0, BLOCK_ROWS)]
  const codes32 = new Uint32Array(buffer, 0, BLOCK_ROWS)
  const words = new Int32Array(buffer, codes32.byteLength, BLOCK_WORDS)
  const { compare8, compare16, compare32 } = program
  return (codes, from, to, low, high) => {
    const span = high - 1 - low
    const part = codes.subarray(from, to)
    if (part instanceof Uint8Array) {
      codes8.set(part)
      compare8(0, part.byteLength, low, span, words.byteOffset)
    } else if (part instanceof Uint16Array) {
      codes16.set(part)
      compare16(0, part.byteLength, low, span, words.byteOffset)
    } else {
      codes32.set(part)
      compare32(0, part.byteLength, low, span, words.byteOffset)
    }
    return words
  }
}

/** The same one code after the other. One of the differences is negative if the code is out of the range. */
export const loopRangeBits: RangeBits = (codes, from, to, low, high) => {
  wide.set(codes.subarray(from, to))
  const last = high - 1
  for (let word = 0; word * 32 < to - from; word++) {
    let bits = 0
    for (let bit = 0; bit < 32; bit = (bit + 1) | 0) {
      const code = wide[(word * 32 + bit) | 0]! | 0
      bits |= (~((code - low) | (last - code)) >>> 31) << bit
    }
    loopWords[word] = bits
  }
  return loopWords
}

/** The same for a table that has 1 for each code to be found, and 0 for the others. */
export function tableBits(codes: Codes, from: number, to: number, table: Uint8Array): Int32Array {
  wide.set(codes.subarray(from, to))
  for (let word = 0; word * 32 < to - from; word++) {
    let bits = 0
    for (let bit = 0; bit < 32; bit = (bit + 1) | 0) bits |= table[wide[(word * 32 + bit) | 0]!]! << bit
    loopWords[word] = bits
  }
  return loopWords
}

/** The same for a test of a code. */
export function testedBits(
  codes: Codes,
  from: number,
  to: number,
  test: (code: number) => boolean,
): Int32Array {
  wide.set(codes.subarray(from, to))
  loopWords.fill(0)
  for (let i = 0; i < to - from; i++) if (test(wide[i]!)) loopWords[i >>> 5]! |= 1 << i
  return loopWords
}
