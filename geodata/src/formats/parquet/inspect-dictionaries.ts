import { type FileHandle, open } from 'node:fs/promises'
import { type ColumnMetaData, parquetMetadataAsync } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { decompressPage } from 'hyparquet/src/datapage.js'
import { readFully } from '../../bytes/read-fully.ts'
import { SourceError } from '../../source-error.ts'
import { decompressLz4Block } from '../arrow/lz4-frame.ts'
import {
  expandsBeyond,
  largerThan,
  maxValueBytes,
  megabytes,
  type SourceLimits,
} from '../reading/source-limits.ts'
import { bufferOf, COMPRESSORS, ExactColumns } from './exact-columns.ts'

/** DuckDB reads this many rows at a time. */
const VECTOR_ROWS = 2048
/**
 * If the rows of a vector are in two pages, DuckDB copies the texts of all of them, outside of its limit of memory.
 * Dictionaries with longer texts are examined, because few bytes of a file could take gigabytes then.
 */
const LONG_VALUE_BYTES = 1 << 17
const MAX_VECTOR_BYTES = 1 << 30
const HEADER_BYTES = 1 << 12
const MAX_HEADER_BYTES = 1 << 24

const compressors = { ...COMPRESSORS, LZ4_RAW: decompressLz4Block }

interface Inspected {
  path: string
  file: string
  limits: SourceLimits
}

/**
 * Refuses a file whose rows repeat long texts of a dictionary so often that reading them would take more memory
 * than the file has a right to. Only what is in the pages counts, and not the sizes that the footer states.
 */
export async function inspectDictionaries({ path, file, limits }: Inspected): Promise<void> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const { row_groups, num_rows } = await parquetMetadataAsync(bufferOf(handle, size)).catch(() => {
      throw new SourceError(`${file} cannot be read: its footer is damaged.`)
    })
    const suspects = new Map<string, number>()
    for (const { columns } of row_groups) {
      for (const { meta_data } of columns) {
        if (meta_data?.type !== 'BYTE_ARRAY' && meta_data?.type !== 'FIXED_LEN_BYTE_ARRAY') continue
        const name = meta_data.path_in_schema.join('.')
        const longest = await longestValue(handle, size, meta_data, limits, file)
        if (longest > LONG_VALUE_BYTES) suspects.set(name, Math.max(suspects.get(name) ?? 0, longest))
      }
    }
    const maxBytes = maxValueBytes(size, limits, true)
    for (const [name, longest] of suspects) {
      const { bytes, largestVector } = await measure(path, file, name, Number(num_rows), longest)
      if (bytes > maxBytes) throw new SourceError(expandsBeyond(file, maxBytes, size))
      if (largestVector > MAX_VECTOR_BYTES)
        throw new SourceError(
          `${file} has ${VECTOR_ROWS} rows that hold more than ${megabytes(MAX_VECTOR_BYTES)} in column ${name}, which are read at once. Write the file without a dictionary for this column.`,
        )
    }
  } finally {
    await handle.close()
  }
}

/** The length of the longest value in the dictionary pages of a column chunk; 0 if it has none. */
async function longestValue(
  handle: FileHandle,
  size: number,
  chunk: ColumnMetaData,
  { rowBytes }: SourceLimits,
  file: string,
): Promise<number> {
  let at = Number(chunk.dictionary_page_offset || chunk.data_page_offset)
  let longest = 0
  for (let values = 0; values < Number(chunk.num_values) && at >= 0 && at < size; ) {
    const { header, length } = await readHeader(handle, size, at, file)
    const { compressed_page_size, uncompressed_page_size } = header
    at += length
    if (compressed_page_size < 0 || at + compressed_page_size > size)
      throw new SourceError(
        `${file} cannot be read: a page of column ${chunk.path_in_schema.join('.')} ends after the file.`,
      )
    values += header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? 0
    if (header.type === 'DICTIONARY_PAGE' && uncompressed_page_size > LONG_VALUE_BYTES) {
      const page = await readBytes(handle, at, compressed_page_size)
      longest = Math.max(longest, longestPlain(page, uncompressed_page_size, chunk, file))
      if (longest > rowBytes) throw new SourceError(`${file}: a value is ${largerThan(rowBytes)}.`)
    }
    at += compressed_page_size
  }
  return longest
}

async function readHeader(handle: FileHandle, size: number, at: number, file: string) {
  // The header may hold the smallest and largest value, so its length is not known.
  for (let bytes = HEADER_BYTES; ; bytes *= 16) {
    const head = await readBytes(handle, at, Math.min(bytes, size - at))
    const reader = { view: new DataView(head.buffer, head.byteOffset, head.byteLength), offset: 0 }
    try {
      return { header: parquetHeader(reader), length: reader.offset }
    } catch {
      if (bytes >= MAX_HEADER_BYTES || at + bytes >= size)
        throw new SourceError(`${file} cannot be read: a page has no header.`)
    }
  }
}

function longestPlain(
  page: Uint8Array,
  pageBytes: number,
  { codec, type }: ColumnMetaData,
  file: string,
): number {
  if (pageBytes > MAX_VECTOR_BYTES)
    throw new SourceError(`${file} has a dictionary of more than ${megabytes(MAX_VECTOR_BYTES)}.`)
  let bytes: Uint8Array
  try {
    bytes = decompressPage(page, pageBytes, codec, compressors)
  } catch (error) {
    throw new SourceError(`${file} has a dictionary that cannot be read: ${(error as Error).message}.`)
  }
  // Values of a fixed length have no lengths in the page. The length is at most that of the page.
  if (type === 'FIXED_LEN_BYTE_ARRAY') return bytes.length
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let longest = 0
  for (let at = 0; at + 4 <= bytes.length; ) {
    const length = view.getUint32(at, true)
    longest = Math.max(longest, length)
    at += 4 + length
  }
  return longest
}

/** The bytes of a column's values, in all rows and in any group of rows that DuckDB reads at once. */
async function measure(path: string, file: string, name: string, rows: number, longest: number) {
  let bytes = 0
  let largestVector = 0
  // Values inside lists and structures are not read here: as many as a vector has rows may be the longest.
  if (name.includes('.')) return { bytes, largestVector: longest * VECTOR_ROWS }
  const decode = (value: unknown) => (value as Uint8Array | null)?.length ?? 0
  const column = await ExactColumns.open(path, file, [
    { name, contents: 'texts', decode, isRaw: true, compressors },
  ])
  try {
    for (let row = 0; row < rows; row += VECTOR_ROWS) {
      const [lengths] = await column.read(row, Math.min(VECTOR_ROWS, rows - row))
      const vector = (lengths as number[]).reduce((sum, length) => sum + length, 0)
      bytes += vector
      largestVector = Math.max(largestVector, vector)
    }
  } finally {
    await column.close()
  }
  return { bytes, largestVector }
}

async function readBytes(handle: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  return bytes.subarray(0, await readFully(handle, bytes, at))
}
