import { crc32 } from 'node:zlib'
import { readFully } from '../bytes/read-fully.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { folderFiles, type ReadableFile, type SnapshotFiles } from '../snapshot/snapshot-files.ts'
import { wrongSize } from '../snapshot/verify.ts'
import { type CodeTables, emptyTables } from './code-tables.ts'
import {
  type ColumnDirectory,
  checkDirectory,
  damagedColumns,
  directoryLength,
  parseDirectory,
  type Section,
  type StoredColumn,
  TAIL_BYTES,
} from './column-file.ts'
import { type ColumnParts, CompiledColumn } from './compiled-column.ts'
import {
  formOf,
  type PackedColumn,
  type PackedLists,
  type PackedSegment,
  unpackColumn,
  unpackLists,
} from './unpack-column.ts'

const NAME = SNAPSHOT_FILES.columns

/**
 * Reads the directory of a snapshot's compiled columns. Returns null for a snapshot that has none, or whose
 * file has a newer format. Throws a DamagedSnapshotError.
 */
export async function readColumnDirectory(
  source: string | SnapshotFiles,
  manifest: Manifest,
): Promise<ColumnDirectory | null> {
  const expected = manifest.files[NAME]
  if (expected === undefined) return null
  return withFile(source, async (file) => {
    const { size } = await file.stat()
    if (size !== expected.bytes) throw wrongSize(NAME, size, expected.bytes)
    const tail = await readExactly(file, Math.max(0, size - TAIL_BYTES), TAIL_BYTES)
    const length = directoryLength(tail)
    if (length === null || length > size - TAIL_BYTES) throw damagedColumns('has no directory')
    const text = await readExactly(file, size - TAIL_BYTES - length, length)
    if (crc32(text) !== tail.readUInt32LE(4)) throw damagedColumns('has a damaged directory')
    const directory = parseDirectory(text)
    if (directory === null) return null
    if (directory.rows !== manifest.rows) throw damagedColumns('belongs to another snapshot')
    checkDirectory(directory, size)
    return directory
  })
}

/** Loads one column as a whole. Throws a DamagedSnapshotError. */
export async function readCompiledColumn(
  source: string | SnapshotFiles,
  directory: ColumnDirectory,
  stored: StoredColumn,
): Promise<CompiledColumn> {
  return new CompiledColumn(stored.name, stored.type, await readColumnParts(source, directory, stored))
}

/** Reads one column. `unpack` makes it of its sections, for example in another thread. Throws a DamagedSnapshotError. */
export async function readColumnParts(
  source: string | SnapshotFiles,
  { rows, segmentRows }: Pick<ColumnDirectory, 'rows' | 'segmentRows'>,
  stored: StoredColumn,
  unpack: (packed: PackedColumn) => Promise<ColumnParts> = unpackColumn,
): Promise<ColumnParts> {
  const packed = await withFile(source, async (file) => {
    const dictionary = await readSection(file, stored.dictionary)
    const codes: Buffer<ArrayBuffer>[] = []
    for (const segment of stored.codes) codes.push(await readSection(file, segment))
    return { rows, segmentRows, stored, dictionary, codes }
  })
  return unpack(packed)
}

/** The same without the codes of a column that has posting lists. */
export async function readColumnLists(
  source: string | SnapshotFiles,
  stored: PackedLists['stored'],
  unpack: (packed: PackedLists) => Promise<ColumnParts> = unpackLists,
): Promise<ColumnParts> {
  const packed = await withFile(source, async (file) => ({
    stored,
    dictionary: await readSection(file, stored.dictionary),
    counts: await readSection(file, stored.lists.counts),
  }))
  return unpack(packed)
}

export interface SegmentUnpacker {
  segmentsAtOnce: number
  unpackLists(packed: PackedLists): Promise<ColumnParts>
  unpackSegment(segment: PackedSegment): Promise<void>
}

/** Reads a column of many rows that has posting lists, without making them. Throws a DamagedSnapshotError. */
export async function readLargeColumn(
  source: string | SnapshotFiles,
  shape: Pick<ColumnDirectory, 'rows' | 'segmentRows'>,
  stored: PackedLists['stored'],
  unpacker: SegmentUnpacker,
): Promise<ColumnParts> {
  const lists = await readColumnLists(source, stored, (packed) => unpacker.unpackLists(packed))
  const tables = emptyTables(shape.rows, formOf(stored))
  await readSegments(source, shape, { stored, tables, segments: stored.codes.keys() }, unpacker)
  return { ...lists, ...tables }
}

/** Reads some segments into their places: a few of them are in memory at a time. Throws a DamagedSnapshotError. */
export async function readSegments(
  source: string | SnapshotFiles,
  { segmentRows }: Pick<ColumnDirectory, 'segmentRows'>,
  { stored, tables, segments }: { stored: StoredColumn; tables: CodeTables; segments: Iterable<number> },
  unpacker: SegmentUnpacker,
): Promise<void> {
  const form = formOf(stored)
  await withFile(source, async (file) => {
    const unpacking: Promise<void>[] = []
    for (const i of segments) {
      if (unpacking.length >= unpacker.segmentsAtOnce)
        await unpacking[unpacking.length - unpacker.segmentsAtOnce]
      const section = stored.codes[i]!
      const bytes = await readSection(file, section)
      const unpacked = unpacker.unpackSegment({ section, bytes, firstRow: i * segmentRows, form, tables })
      // If it fails, one of the next `await` throws.
      unpacked.catch(() => {})
      unpacking.push(unpacked)
    }
    await Promise.all(unpacking)
  })
}

function readSection(file: ReadableFile, { at, bytes }: Section): Promise<Buffer<ArrayBuffer>> {
  return readExactly(file, at, bytes)
}

async function readExactly(file: ReadableFile, at: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const bytes = Buffer.allocUnsafeSlow(length)
  if ((await readFully(file, bytes, at)) < length) throw damagedColumns('ends too early')
  return bytes
}

async function withFile<T>(
  source: string | SnapshotFiles,
  work: (file: ReadableFile) => Promise<T>,
): Promise<T> {
  const files = typeof source === 'string' ? folderFiles(source) : source
  const file = await files.open(NAME)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}
