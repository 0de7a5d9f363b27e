import { crc32 } from 'node:zlib'
import type { ColumnType } from '../feature.ts'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import { SNAPSHOT_FILES } from '../snapshot/manifest.ts'

/**
 * `rows.columns`: columns in a form that can be searched without a database, in snapshot order. Each column
 * has sections of its own, so that a reader loads only the columns that it needs:
 *
 * - the dictionary: its distinct values, ascending;
 * - the codes: one per row, 0 for null, otherwise 1 + the index of the row's value in the dictionary. So the
 *   order of codes is the order of values, and every condition on a column becomes a set of codes. A section has
 *   the codes of a segment, which is a part of the rows, so that neither writing nor reading needs memory for the
 *   sections of all rows.
 *
 * A file with one segment is of version 1, which has one section of codes instead of a list. Programs that know only
 * version 1 leave other files to the database.
 *
 * Sections are compressed with zstd. After them come the directory (JSON) and a tail of four uint32,
 * little-endian: the directory's length and CRC-32, and a magic number in two words.
 *
 * What follows from the codes in one pass is not stored but made when a column is loaded: the rows of each
 * code (posting lists, which together are the sorted order), and the smallest and largest code of each block. Columns of
 * many rows have their posting lists in the file, because a pass over all codes takes long there.
 * See docs/decisions/compiled-columns.md.
 */
const VERSION = 2
const ONE_SEGMENT_VERSION = 1
/** The rows of a segment; a multiple of the rows of a block. */
export const SEGMENT_ROWS = 1 << 20
export const TAIL_BYTES = 16
const MAGIC = [0x574c_434f, 0x4c55_4d4e] as const

/** A part of the file, and the CRC-32 of its bytes. */
export interface Section {
  at: number
  bytes: number
  crc32: number
  /** The number of bytes after decompression. */
  size: number
}

export interface StoredColumn {
  name: string
  type: ColumnType
  /** The number of distinct values, nulls excluded. */
  distinct: number
  /**
   * How the dictionary is stored: `integer` and `number` as the differences of consecutive 64-bit keys, in
   * byte planes (see rank-values.ts); `text` as UTF-8, each value followed by a NUL (see dictionary.ts).
   * Integers that need more than 64 bits are stored as text.
   */
  form: 'integer' | 'number' | 'text'
  dictionary: Section
  /** By segment. */
  codes: Section[]
  /** The number of bytes of a code. */
  width: number
  /** Of columns of many rows, see `StoredLists`. */
  lists?: StoredLists
}

/**
 * What rows a code has, of columns of many rows, so that a search reads a part of a list instead of all codes. Missing in
 * smaller columns, and in those that were compiled before it existed: there it follows from the codes.
 */
export interface StoredLists {
  /** How many rows have each code, in byte planes. */
  counts: Section
  /** Where the rows are, by their codes: uint32, little-endian, not compressed, because parts of it are read. */
  orderAt: number
}

export interface ColumnDirectory {
  rows: number
  /** The rows of each segment but the last one. */
  segmentRows: number
  columns: StoredColumn[]
}

export function directoryBytes({ rows, segmentRows, columns }: ColumnDirectory): Buffer {
  const directory =
    rows <= segmentRows
      ? {
          version: ONE_SEGMENT_VERSION,
          rows,
          columns: columns.map((column) => ({ ...column, codes: column.codes[0] })),
        }
      : { version: VERSION, rows, segmentRows, columns }
  const text = Buffer.from(JSON.stringify(directory))
  const tail = Buffer.alloc(TAIL_BYTES)
  tail.writeUInt32LE(text.length, 0)
  tail.writeUInt32LE(crc32(text), 4)
  tail.writeUInt32LE(MAGIC[0], 8)
  tail.writeUInt32LE(MAGIC[1], 12)
  return Buffer.concat([text, tail])
}

/** The length of the directory before this tail; null if the tail is not one. */
export function directoryLength(tail: Buffer): number | null {
  const isTail = tail.readUInt32LE(8) === MAGIC[0] && tail.readUInt32LE(12) === MAGIC[1]
  return isTail ? tail.readUInt32LE(0) : null
}

/** The directory; null if it has another format. */
export function parseDirectory(text: Buffer): ColumnDirectory | null {
  const { version, ...directory } = JSON.parse(text.toString('utf8')) as ColumnDirectory & { version: number }
  if (version === VERSION) return directory
  if (version !== ONE_SEGMENT_VERSION) return null
  const { rows } = directory
  const columns = directory.columns.map((column) => ({ ...column, codes: [column.codes].flat() }))
  return { rows, segmentRows: Math.max(1, rows), columns }
}

/** More than the texts of a dictionary may have. */
const MAX_TEXT_SECTION = 64 << 20

/**
 * Throws a DamagedSnapshotError unless all sections lie in the file and are no larger than their rows need: memory is
 * taken for what the directory says before the section is read.
 */
export function checkDirectory({ rows, segmentRows, columns }: ColumnDirectory, fileBytes: number): void {
  const isCount = (value: number, max: number) => Number.isInteger(value) && value >= 0 && value <= max
  const maxSize = MAX_TEXT_SECTION + 8 * rows
  const isSection = ({ at, bytes, size }: Section) =>
    isCount(at, fileBytes) && isCount(bytes, fileBytes - at) && isCount(size, maxSize)
  const isBounded = ({ distinct, width, dictionary, codes, lists }: StoredColumn) =>
    isCount(distinct, rows) &&
    isCount(width, 4) &&
    codes.length === Math.max(1, Math.ceil(rows / segmentRows)) &&
    [dictionary, ...codes].every(isSection) &&
    (lists === undefined || (isSection(lists.counts) && isCount(lists.orderAt + rows * 4, fileBytes)))
  if (!isCount(segmentRows - 1, Number.MAX_SAFE_INTEGER) || !columns.every(isBounded))
    throw damagedColumns('has sections that are not in it')
}

export function damagedColumns(what: string): DamagedSnapshotError {
  return new DamagedSnapshotError(SNAPSHOT_FILES.columns, `${SNAPSHOT_FILES.columns} ${what}.`)
}
