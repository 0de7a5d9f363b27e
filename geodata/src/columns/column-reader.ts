import { crc32 } from 'node:zlib'
import { DamagedSnapshotError } from '../snapshot/damaged-snapshot-error.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { folderFiles, type ReadableFile, type SnapshotFiles } from '../snapshot/snapshot-files.ts'
import { wrongSize } from '../snapshot/verify.ts'
import { unpackBytes } from './byte-planes.ts'
import {
  type ColumnDirectory,
  directoryLength,
  parseDirectory,
  type Section,
  type StoredColumn,
  TAIL_BYTES,
} from './column-file.ts'
import { type Codes, CompiledColumn } from './compiled-column.ts'
import { unpackKeys, unpackTexts } from './dictionary.ts'
import { inSlices } from './in-slices.ts'

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
    if (length === null || length > size - TAIL_BYTES) throw damaged('has no directory')
    const text = await readExactly(file, size - TAIL_BYTES - length, length)
    if (crc32(text) !== tail.readUInt32LE(4)) throw damaged('has a damaged directory')
    const directory = parseDirectory(text)
    if (directory && directory.rows !== manifest.rows) throw damaged('belongs to another snapshot')
    return directory
  })
}

/** Loads one column, in steps short enough for a server's event loop. Throws a DamagedSnapshotError. */
export async function readCompiledColumn(
  source: string | SnapshotFiles,
  rows: number,
  { name, type, form, distinct, dictionary, codes, width }: StoredColumn,
): Promise<CompiledColumn> {
  const [packedValues, packedCodes] = await withFile(source, async (file) => [
    await readSection(file, dictionary),
    await readSection(file, codes),
  ])
  const values =
    form === 'text'
      ? await unpackTexts(packedValues!, dictionary.size)
      : await unpackKeys(packedValues!, dictionary.size, form === 'number')
  if (values.length !== distinct) throw damaged('has another number of values than its directory says')
  const planes = await unpackBytes(packedCodes!, codes.size)
  return CompiledColumn.from(name, type, values, await codesOf(planes, rows, width))
}

async function codesOf(planes: Uint8Array, rows: number, width: number): Promise<Codes> {
  if (width === 1) return new Uint8Array(planes)
  const codes = new Uint32Array(rows)
  for (let plane = 0; plane < width; plane++) {
    const at = plane * rows
    const shift = plane * 8
    await inSlices(rows, (from, to) => {
      for (let row = from; row < to; row++) codes[row]! |= planes[at + row]! << shift
    })
  }
  if (width > 2) return codes
  const narrow = new Uint16Array(rows)
  await inSlices(rows, (from, to) => narrow.set(codes.subarray(from, to), from))
  return narrow
}

async function readSection(file: ReadableFile, section: Section): Promise<Buffer> {
  const bytes = await readExactly(file, section.at, section.bytes)
  let checksum = 0
  await inSlices(bytes.length, (from, to) => {
    checksum = crc32(bytes.subarray(from, to), checksum)
  })
  if (checksum !== section.crc32) throw damaged('has another checksum than when it was published')
  return bytes
}

async function readExactly(file: ReadableFile, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, at + filled)
    if (bytesRead === 0) throw damaged('ends too early')
    filled += bytesRead
  }
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

function damaged(what: string): DamagedSnapshotError {
  return new DamagedSnapshotError(NAME, `${NAME} ${what}.`)
}
