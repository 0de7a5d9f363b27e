import { type FileHandle, open } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { type Compressors, type FileMetaData, parquetMetadataAsync, parquetRead } from 'hyparquet'
import { readFully } from '../../bytes/read-fully.ts'
import type { Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ExactReading } from './exact-reading.ts'
import { DATABASE_DIGITS } from './wide-decimals.ts'

/** How many rows are read at once. */
const CHUNK_ROWS = 122_880

export interface ExactColumn extends ExactReading {
  name: string
  /** Whether its values are the bytes that are stored, also if they are texts. */
  isRaw?: true
  compressors?: Compressors
}

/** A page is never larger than its header says. */
export const COMPRESSORS: Compressors = {
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: length }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: length }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: length }),
}

/** Reads columns that DuckDB does not read exactly, in the order of the rows. */
export class ExactColumns {
  readonly #columns: ExactColumn[]
  readonly #file: string
  readonly #handle: FileHandle
  readonly #size: number
  readonly #metadata: FileMetaData
  /** The values of the rows from `#firstRow` on, by row and column. */
  #rows: unknown[][] = []
  #firstRow = 0

  private constructor(
    columns: ExactColumn[],
    file: string,
    handle: FileHandle,
    size: number,
    metadata: FileMetaData,
  ) {
    this.#columns = columns
    this.#file = file
    this.#handle = handle
    this.#size = size
    this.#metadata = metadata
  }

  static async open(path: string, file: string, columns: ExactColumn[]): Promise<ExactColumns> {
    const handle = await open(path)
    try {
      const { size } = await handle.stat()
      const metadata = await parquetMetadataAsync(bufferOf(handle, size))
      // Without these annotations the values are returned as the bytes or integers that are stored.
      for (const element of metadata.schema) {
        const isTime = element.logical_type?.type === 'TIMESTAMP' && element.logical_type.unit === 'NANOS'
        const isRaw = columns.some((column) => column.isRaw && column.name === element.name)
        if ((element.precision ?? 0) <= DATABASE_DIGITS && !isTime && !isRaw) continue
        delete element.converted_type
        delete element.logical_type
      }
      return new ExactColumns(columns, file, handle, size, metadata)
    } catch (error) {
      await handle.close()
      throw refusal(file, columns, error)
    }
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  /** The values of some rows, counted from 0, by column. */
  async read(firstRow: number, count: number): Promise<Value[][]> {
    const values: Value[][] = this.#columns.map(() => [])
    for (let row = firstRow; row < firstRow + count; row++) {
      if (row < this.#firstRow || row >= this.#firstRow + this.#rows.length) await this.#fill(row)
      const record = this.#rows[row - this.#firstRow]
      for (const [i, { decode }] of this.#columns.entries()) values[i]!.push(decode(record?.[i] ?? null))
    }
    return values
  }

  async #fill(row: number): Promise<void> {
    const rowEnd = Math.min(Number(this.#metadata.num_rows), row + CHUNK_ROWS)
    try {
      await parquetRead({
        file: bufferOf(this.#handle, this.#size),
        metadata: this.#metadata,
        columns: this.#columns.map(({ name }) => name),
        rowStart: row,
        rowEnd,
        compressors: this.#columns[0]!.compressors ?? COMPRESSORS,
        utf8: false,
        geoparquet: false,
        // Those of the type INT96.
        parsers: { timestampFromNanoseconds: (nanoseconds) => nanoseconds },
        onComplete: (rows) => {
          this.#rows = rows
        },
      })
    } catch (error) {
      throw refusal(this.#file, this.#columns, error)
    }
    this.#firstRow = row
    if (this.#rows.length === 0) throw new SourceError(`${this.#file} ends too early: before row ${row + 1}.`)
  }
}

export function bufferOf(handle: FileHandle, byteLength: number) {
  return {
    byteLength,
    async slice(start: number, end = byteLength): Promise<ArrayBuffer> {
      const bytes = new Uint8Array(Math.max(0, end - start))
      await readFully(handle, bytes, start)
      return bytes.buffer
    },
  }
}

function refusal(file: string, columns: ExactColumn[], error: unknown): SourceError {
  const contents = [...new Set(columns.map((column) => column.contents))].join(' and ')
  return new SourceError(`${file} has ${contents} that cannot be read: ${(error as Error).message}.`)
}
