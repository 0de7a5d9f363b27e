import { allocateShared } from '../bytes/allocate-block.ts'
import { BLOCK_ROWS, BLOCK_SHIFT, type Codes, type ColumnParts } from './compiled-column.ts'

/** The codes of a column and what is known of its blocks, in memory that threads share. */
export type CodeTables = { codes: Codes } & Pick<ColumnParts, 'blockMin' | 'blockMax' | 'blockCounts'>

/** The form of the codes: the bytes of one in the file, and the number of codes, including that of null. */
export interface CodeForm {
  width: number
  codeCount: number
}

export function emptyTables(rows: number, { width, codeCount }: CodeForm): CodeTables {
  const blocks = Math.ceil(rows / BLOCK_ROWS)
  return {
    codes: codesFor(rows, width),
    blockMin: codesFor(blocks, width),
    blockMax: codesFor(blocks, width),
    blockCounts: width === 1 ? new Uint16Array(allocateShared(blocks * codeCount * 2)) : null,
  }
}

function codesFor(rows: number, width: number): Codes {
  if (width > 2) return new Uint32Array(allocateShared(rows * 4))
  return width === 1 ? new Uint8Array(allocateShared(rows)) : new Uint16Array(allocateShared(rows * 2))
}

/** Fills the part of a segment, whose codes are in byte planes. Its first row is the first of a block. */
export function placeSegment(
  planes: Uint8Array,
  firstRow: number,
  { width, codeCount }: CodeForm,
  tables: CodeTables,
): void {
  const { codes, blockMin, blockMax, blockCounts } = tables
  const rows = planes.length / width
  const firstBlock = firstRow >>> BLOCK_SHIFT
  if (codes instanceof Uint8Array) {
    // Most columns of few values: their planes are their codes.
    codes.set(planes, firstRow)
    countBlocks(planes, codeCount, firstBlock, { blockMin, blockMax, blockCounts: blockCounts! })
  } else if (codes instanceof Uint16Array) {
    joinTwoPlanes(planes, codes.subarray(firstRow, firstRow + rows), firstBlock, blockMin, blockMax)
  } else {
    const part = codes.subarray(firstRow, firstRow + rows)
    joinPlanes(planes, part, width)
    findRanges(part, firstBlock, blockMin, blockMax)
  }
}

// The loops get arrays of one width only: loops that get arrays of three widths take three to five times as long.

export function joinPlanes(planes: Uint8Array, codes: Uint32Array, width: number): void {
  const rows = codes.length
  const [second, third, fourth] = [rows, rows * 2, rows * 3]
  if (width === 1) codes.set(planes)
  else if (width === 2)
    for (let row = 0; row < rows; row++) codes[row] = planes[row]! | (planes[second + row]! << 8)
  else if (width === 3)
    for (let row = 0; row < rows; row++)
      codes[row] = planes[row]! | (planes[second + row]! << 8) | (planes[third + row]! << 16)
  else
    for (let row = 0; row < rows; row++)
      codes[row] =
        planes[row]! |
        (planes[second + row]! << 8) |
        (planes[third + row]! << 16) |
        (planes[fourth + row]! << 24)
}

/** Joins the planes of two bytes, and finds the smallest and largest code of each block meanwhile. */
function joinTwoPlanes(
  planes: Uint8Array,
  codes: Uint16Array,
  firstBlock: number,
  blockMin: Codes,
  blockMax: Codes,
): void {
  const rows = codes.length
  for (let start = 0, block = firstBlock; start < rows; start += BLOCK_ROWS, block++) {
    const end = Math.min(rows, start + BLOCK_ROWS)
    let min = 0xffff
    let max = 0
    for (let row = start; row < end; row++) {
      const code = planes[row]! | (planes[rows + row]! << 8)
      codes[row] = code
      min = Math.min(min, code)
      max = Math.max(max, code)
    }
    blockMin[block] = min
    blockMax[block] = max
  }
}

/** The smallest and largest code of each block, of which the first is `firstBlock`. */
function findRanges(codes: Uint32Array, firstBlock: number, blockMin: Codes, blockMax: Codes): void {
  for (let start = 0, block = firstBlock; start < codes.length; start += BLOCK_ROWS, block++) {
    const end = Math.min(codes.length, start + BLOCK_ROWS)
    let min = codes[start]!
    let max = min
    for (let row = start + 1; row < end; row++) {
      const code = codes[row]!
      if (code < min) min = code
      else if (code > max) max = code
    }
    blockMin[block] = min
    blockMax[block] = max
  }
}

interface BlockTables {
  blockMin: Codes
  blockMax: Codes
  blockCounts: Uint16Array
}

/** Counts codes of one byte by block, of which the first is `firstBlock`. The counts tell the smallest and the largest. */
function countBlocks(codes: Uint8Array, codeCount: number, firstBlock: number, tables: BlockTables): void {
  const { blockMin, blockMax, blockCounts } = tables
  const room = new Uint32Array(1024)
  for (let start = 0, block = firstBlock; start < codes.length; start += BLOCK_ROWS, block++) {
    room.fill(0)
    countBytes(codes, start, Math.min(codes.length, start + BLOCK_ROWS), room)
    const at = block * codeCount
    let isFirst = true
    for (let code = 0; code < codeCount; code++) {
      const count = room[code]! + room[256 + code]! + room[512 + code]! + room[768 + code]!
      if (count === 0) continue
      if (isFirst) blockMin[block] = code
      isFirst = false
      blockMax[block] = code
      blockCounts[at + code] = count
    }
  }
}

/** Counts into four tables: adding to the same number again has to wait for the addition before. */
function countBytes(codes: Uint8Array, from: number, to: number, tables: Uint32Array): void {
  const end = from + ((to - from) & ~3)
  for (let row = from; row < end; row += 4) {
    tables[codes[row]!]!++
    tables[256 + codes[row + 1]!]!++
    tables[512 + codes[row + 2]!]!++
    tables[768 + codes[row + 3]!]!++
  }
  for (let row = end; row < to; row++) tables[codes[row]!]!++
}

/** How many rows have each code. */
export function countRows({ codes, blockCounts }: CodeTables, codeCount: number): Uint32Array {
  const counts = new Uint32Array(codeCount)
  if (blockCounts) {
    for (let at = 0; at < blockCounts.length; at += codeCount)
      for (let code = 0; code < codeCount; code++) counts[code]! += blockCounts[at + code]!
  } else if (codes instanceof Uint16Array) countCodes16(codes, counts)
  else if (codes instanceof Uint32Array) countCodes32(codes, counts)
  return counts
}

function countCodes16(codes: Uint16Array, counts: Uint32Array): void {
  for (let row = 0; row < codes.length; row++) counts[codes[row]!]!++
}

function countCodes32(codes: Uint32Array, counts: Uint32Array): void {
  for (let row = 0; row < codes.length; row++) counts[codes[row]!]!++
}
