import { crc32 } from 'node:zlib'
import { allocateShared } from '../bytes/allocate-block.ts'
import { unpackBytes } from './byte-planes.ts'
import { codeBitmaps } from './code-bitmaps.ts'
import { damagedColumns, type Section, type StoredColumn, type StoredLists } from './column-file.ts'
import { BLOCK_ROWS, BLOCK_SHIFT, type Codes, type ColumnParts, MAX_LISTED_ROWS } from './compiled-column.ts'
import { type DictionaryValues, unpackKeys, unpackTexts } from './dictionary.ts'

/** A column as it is stored. */
export interface PackedColumn {
  rows: number
  segmentRows: number
  stored: StoredColumn
  dictionary: Uint8Array<ArrayBuffer>
  /** By segment. */
  codes: Uint8Array<ArrayBuffer>[]
}

/** The posting lists of a column as they are stored, without the rows. */
export interface PackedLists {
  stored: StoredColumn & { lists: StoredLists }
  dictionary: Uint8Array<ArrayBuffer>
  counts: Uint8Array<ArrayBuffer>
}

const NO_CODES = new Uint8Array(0)
const NO_BITMAPS = { edges: new Uint32Array(0), below: new Int32Array(0) }

/**
 * Makes a column of its sections: 20 to 80 ms of processor time for a million rows, a fifth of it without lists. Columns
 * of more than `maxListed` rows get no lists. Throws a DamagedSnapshotError.
 */
export async function unpackColumn(packed: PackedColumn, maxListed = MAX_LISTED_ROWS): Promise<ColumnParts> {
  const { rows, segmentRows, stored } = packed
  const { distinct, width } = stored
  const values = await unpackDictionary(packed)
  const codes = codesFor(rows, width)
  const counts = new Uint32Array(distinct + 2)
  const blocks = Math.ceil(rows / BLOCK_ROWS)
  const [blockMin, blockMax] = [new Uint32Array(blocks), new Uint32Array(blocks)]
  const blockCounts = width === 1 ? new Uint16Array(blocks * (distinct + 1)) : null
  const segment = new Uint32Array(width === 1 ? 0 : Math.min(rows, segmentRows))
  let unpacking = unpackSegment(packed, 0)
  for (let i = 0; i < stored.codes.length; i++) {
    const planes = await unpacking
    // The next segment is decompressed by another thread meanwhile.
    if (i + 1 < stored.codes.length) unpacking = unpackSegment(packed, i + 1)
    const from = i * segmentRows
    const part = segment.subarray(0, Math.min(rows, from + segmentRows) - from)
    if (blockCounts) {
      // Most columns of few values: their planes are their codes.
      codes.set(planes, from)
      countBlocks(planes, from >>> BLOCK_SHIFT, { counts, blockMin, blockMax, blockCounts })
      continue
    }
    joinPlanes(planes, part, width)
    countCodes(part, counts)
    findRanges(part, from >>> BLOCK_SHIFT, blockMin, blockMax)
    codes.set(part, from)
  }
  // At first, counts[c + 1] is the number of rows of code c, then it is where they end.
  for (let i = 1; i < counts.length; i++) counts[i]! += counts[i - 1]!
  const starts = counts
  const ranges = { blockMin: narrowed(blockMin, width), blockMax: narrowed(blockMax, width), blockCounts }
  if (rows > maxListed) {
    return { values, codes, starts, order: null, ...ranges, ...NO_BITMAPS }
  }
  const order = orderOf(codes, starts)
  return { values, codes, starts, order, ...ranges, ...codeBitmaps(starts, order) }
}

/** Makes what a column has besides its codes. Throws a DamagedSnapshotError. */
export async function unpackLists(packed: PackedLists): Promise<ColumnParts> {
  const { stored, counts } = packed
  const values = await unpackDictionary(packed)
  verifySection(counts, stored.lists.counts)
  const planes = await unpackBytes(counts, stored.lists.counts.size)
  const codeCount = stored.distinct + 1
  if (planes.length !== codeCount * 4)
    throw damagedColumns('has another number of codes than its directory says')
  const rows = new Uint32Array(codeCount)
  joinPlanes(planes, rows, 4)
  const starts = startsOf(rows)
  const ranges = { blockMin: NO_CODES, blockMax: NO_CODES, blockCounts: null }
  return { values, codes: null, starts, order: null, ...ranges, ...NO_BITMAPS }
}

/** Where the rows of each code begin in the order, and the number of rows. */
export function startsOf(counts: Uint32Array): Uint32Array {
  const starts = new Uint32Array(counts.length + 1)
  for (let code = 0; code < counts.length; code++) starts[code + 1] = starts[code]! + counts[code]!
  return starts
}

async function unpackDictionary({
  stored,
  dictionary,
}: Pick<PackedColumn, 'stored' | 'dictionary'>): Promise<DictionaryValues> {
  const { form, distinct, dictionary: section } = stored
  verifySection(dictionary, section)
  const values = await (form === 'text'
    ? unpackTexts(dictionary, section.size)
    : unpackKeys(dictionary, section.size, form === 'number'))
  if (values.length !== distinct) throw damagedColumns('has another number of values than its directory says')
  return values
}

async function unpackSegment({ stored, codes }: PackedColumn, segment: number): Promise<Buffer> {
  const section = stored.codes[segment]!
  verifySection(codes[segment]!, section)
  return unpackBytes(codes[segment]!, section.size)
}

function verifySection(bytes: Uint8Array, section: Section): void {
  if (crc32(bytes) !== section.crc32) throw damagedColumns('has another checksum than when it was published')
}

// The loops get arrays of one width only: loops that get arrays of three widths take three to five times as long.

export function joinPlanes(planes: Uint8Array, codes: Uint32Array, width: number): void {
  const rows = codes.length
  codes.fill(0)
  for (let plane = 0; plane < width; plane++) {
    const at = plane * rows
    const shift = plane * 8
    for (let row = 0; row < rows; row++) codes[row]! |= planes[at + row]! << shift
  }
}

/** In memory that threads share: the order is made in a thread when it is needed. */
function codesFor(rows: number, width: number): Codes {
  if (width > 2) return new Uint32Array(allocateShared(rows * 4))
  return width === 1 ? new Uint8Array(allocateShared(rows)) : new Uint16Array(allocateShared(rows * 2))
}

function narrowed(codes: Uint32Array<ArrayBuffer>, width: number): Codes {
  if (width > 2) return codes
  return width === 1 ? new Uint8Array(codes) : new Uint16Array(codes)
}

function countCodes(codes: Uint32Array, counts: Uint32Array): void {
  for (let row = 0; row < codes.length; row++) counts[codes[row]! + 1]!++
}

interface BlockTables {
  /** The rows of code c are added to `counts[c + 1]`. */
  counts: Uint32Array
  blockMin: Uint32Array
  blockMax: Uint32Array
  blockCounts: Uint16Array
}

/** Counts codes of one byte by block, of which the first is `firstBlock`. The counts tell the smallest and the largest. */
function countBlocks(codes: Uint8Array, firstBlock: number, tables: BlockTables): void {
  const { counts, blockMin, blockMax, blockCounts } = tables
  const codeCount = counts.length - 1
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
      counts[code + 1]! += count
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

/** The rows by their codes, by a counting sort. */
export function orderOf(codes: Codes, starts: Uint32Array): Uint32Array {
  const order = new Uint32Array(codes.length)
  const places = starts.slice()
  const segment = new Uint32Array(Math.min(codes.length, ORDERED_ROWS))
  for (let from = 0; from < codes.length; from += ORDERED_ROWS) {
    const part = segment.subarray(0, Math.min(codes.length - from, ORDERED_ROWS))
    part.set(codes.subarray(from, from + ORDERED_ROWS))
    placeRows(part, from, places, order)
  }
  return order
}

/** Rows whose codes are widened at once. */
const ORDERED_ROWS = 1 << 18

function placeRows(codes: Uint32Array, from: number, places: Uint32Array, order: Uint32Array): void {
  for (let row = 0; row < codes.length; row++) order[places[codes[row]!]!++] = from + row
}

/** The smallest and largest code of each block, of which the first is `firstBlock`. */
function findRanges(
  codes: Uint32Array,
  firstBlock: number,
  blockMin: Uint32Array,
  blockMax: Uint32Array,
): void {
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
