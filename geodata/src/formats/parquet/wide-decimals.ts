import { type FileHandle, open } from 'node:fs/promises'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { type Compressors, type FileMetaData, parquetMetadataAsync, parquetRead } from 'hyparquet'
import type { Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { ParquetColumn } from './parquet-column.ts'

/** The most digits that DuckDB's decimals have. It reads wider ones as doubles, and many of them wrongly. */
const DATABASE_DIGITS = 38
/** How many rows are read at once. */
const CHUNK_ROWS = 122_880

/** An element of a Parquet schema, in depth-first order. */
export interface SchemaElement {
  name: string
  children: number
  /** The digits and decimals of a decimal number; null for other types. */
  digits: number | null
  scale: number | null
}

export interface WideDecimal {
  /** Its place among the columns of the file. */
  place: number
  name: string
  digits: number
  scale: number
}

/** The columns with decimals that DuckDB cannot read, and the places of columns that have such inside. */
export function findWideDecimals(schema: SchemaElement[]): { columns: WideDecimal[]; nested: number[] } {
  const columns: WideDecimal[] = []
  const nested: number[] = []
  for (const [place, [column, ...inner]] of columnElements(schema).entries()) {
    const { name, digits, scale } = column!
    if (isWide(column!)) columns.push({ place, name, digits: digits!, scale: scale ?? 0 })
    else if (inner.some(isWide)) nested.push(place)
  }
  return { columns, nested }
}

function isWide({ digits }: SchemaElement): boolean {
  return digits !== null && digits > DATABASE_DIGITS
}

/** The elements of each column: the column itself, then those inside of it. */
export function columnElements(schema: SchemaElement[]): SchemaElement[][] {
  const columns: SchemaElement[][] = []
  /** How many elements of the current column are still to come. */
  let remaining = 0
  for (const element of schema.slice(1)) {
    if (remaining === 0) {
      columns.push([])
      remaining = 1
    }
    columns.at(-1)!.push(element)
    remaining += element.children - 1
  }
  return columns
}

/** Integers stay integers; decimals become text, because a number does not hold that many digits. */
export function wideDecimalColumn({ name, digits, scale }: WideDecimal): ParquetColumn {
  // The values do not come from the database, which only counts the rows.
  const column = { name, sql: 'NULL', convert: (value: unknown) => value as Value, isWideDecimal: true }
  if (scale === 0) return { ...column, type: 'integer' }
  const note = `Column ${name} has decimals of ${digits} digits, more than a number holds exactly: it is kept as text.`
  return { ...column, type: 'text', note }
}

const COMPRESSORS: Compressors = {
  GZIP: (input) => gunzipSync(input),
  BROTLI: (input) => brotliDecompressSync(input),
  ZSTD: (input) => zstdDecompressSync(input),
}

/** Reads columns of wide decimals, which DuckDB cannot, in the order of the rows. */
export class WideDecimals {
  readonly #columns: WideDecimal[]
  readonly #file: string
  readonly #handle: FileHandle
  readonly #size: number
  readonly #metadata: FileMetaData
  /** The values of the rows from `#firstRow` on, by row and column. */
  #rows: unknown[][] = []
  #firstRow = 0

  private constructor(
    columns: WideDecimal[],
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

  static async open(path: string, file: string, columns: WideDecimal[]): Promise<WideDecimals> {
    const handle = await open(path)
    try {
      const { size } = await handle.stat()
      const metadata = await parquetMetadataAsync(bufferOf(handle, size))
      // Without these annotations the values are returned as the bytes that are stored.
      for (const element of metadata.schema) {
        if ((element.precision ?? 0) <= DATABASE_DIGITS) continue
        delete element.converted_type
        delete element.logical_type
      }
      return new WideDecimals(columns, file, handle, size, metadata)
    } catch (error) {
      await handle.close()
      throw refusal(file, error)
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
      for (const [i, { scale }] of this.#columns.entries())
        values[i]!.push(decimal(record?.[i] as Uint8Array | null | undefined, scale))
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
        compressors: COMPRESSORS,
        utf8: false,
        geoparquet: false,
        onComplete: (rows) => {
          this.#rows = rows
        },
      })
    } catch (error) {
      throw refusal(this.#file, error)
    }
    this.#firstRow = row
    if (this.#rows.length === 0) throw new SourceError(`${this.#file} ends too early: before row ${row + 1}.`)
  }
}

function bufferOf(handle: FileHandle, byteLength: number) {
  return {
    byteLength,
    async slice(start: number, end = byteLength): Promise<ArrayBuffer> {
      const bytes = new Uint8Array(Math.max(0, end - start))
      await handle.read(bytes, 0, bytes.length, start)
      return bytes.buffer
    },
  }
}

function refusal(file: string, error: unknown): SourceError {
  return new SourceError(
    `${file} has decimals of more than ${DATABASE_DIGITS} digits that cannot be read: ${(error as Error).message}.`,
  )
}

/** A big-endian two's complement number of any size, divided by ten to the power of `scale`. */
function decimal(bytes: Uint8Array | null | undefined, scale: number): Value {
  if (bytes === null || bytes === undefined || bytes.length === 0) return null
  const unsigned = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const value = BigInt.asIntN(bytes.length * 8, unsigned)
  if (scale === 0) {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
