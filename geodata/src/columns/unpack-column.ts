import { crc32 } from 'node:zlib'
import { unpackBytes } from './byte-planes.ts'
import { codeBitmaps } from './code-bitmaps.ts'
import {
  type CodeForm,
  type CodeTables,
  countRows,
  emptyTables,
  joinPlanes,
  placeSegment,
} from './code-tables.ts'
import { damagedColumns, type Section, type StoredColumn, type StoredLists } from './column-file.ts'
import { type Codes, type ColumnParts, MAX_LISTED_ROWS } from './compiled-column.ts'
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
  const values = await unpackDictionary(packed)
  const form = formOf(stored)
  const tables = emptyTables(rows, form)
  const planesOf = (segment: number) => unpackPlanes(packed.codes[segment]!, stored.codes[segment]!)
  let unpacking = planesOf(0)
  for (let i = 0; i < stored.codes.length; i++) {
    const planes = await unpacking
    // The next segment is decompressed by another thread meanwhile.
    if (i + 1 < stored.codes.length) unpacking = planesOf(i + 1)
    placeSegment(planes, i * segmentRows, form, tables)
  }
  const starts = startsOf(countRows(tables, form.codeCount))
  if (rows > maxListed) return { values, starts, order: null, ...tables, ...NO_BITMAPS }
  const order = orderOf(tables.codes, starts)
  return { values, starts, order, ...tables, ...codeBitmaps(starts, order) }
}

/** One segment of a column, and where its codes belong. */
export interface PackedSegment {
  section: Section
  bytes: Uint8Array<ArrayBuffer>
  firstRow: number
  form: CodeForm
  tables: CodeTables
}

/** Unpacks one segment into its place. Throws a DamagedSnapshotError. */
export async function unpackSegment({
  section,
  bytes,
  firstRow,
  form,
  tables,
}: PackedSegment): Promise<void> {
  placeSegment(await unpackPlanes(bytes, section), firstRow, form, tables)
}

export function formOf({ width, distinct }: StoredColumn): CodeForm {
  return { width, codeCount: distinct + 1 }
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

async function unpackPlanes(bytes: Uint8Array, section: Section): Promise<Buffer> {
  verifySection(bytes, section)
  return unpackBytes(bytes, section.size)
}

function verifySection(bytes: Uint8Array, section: Section): void {
  if (crc32(bytes) !== section.crc32) throw damagedColumns('has another checksum than when it was published')
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
