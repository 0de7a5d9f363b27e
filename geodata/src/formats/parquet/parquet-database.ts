import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api'
import { type DuckDb, isOutOfMemory, openDuckDb } from '../../open-duckdb.ts'
import { parquetSql, quoteName, quoteText } from '../../quote-sql.ts'
import { SourceError } from '../../source-error.ts'
import type { DescribedColumn } from './described-column.ts'
import type { ParquetOptions, RowRange } from './parquet-block.ts'
import type { ParquetColumn } from './parquet-column.ts'
import type { ParquetGeometry } from './parquet-geometry.ts'
import { columnElements, type SchemaElement } from './schema-element.ts'
import type { RowSizes } from './sized-ranges.ts'

const DEFAULT_DATABASE_MEGABYTES = 512
const THREADS = 2
/** If the file has a column of this name, rows cannot be selected by row number. */
export const ROW_NUMBER = 'file_row_number'

/** A DuckDB session that reads one Parquet file. Its errors name the file as the publisher does. */
export class ParquetDatabase {
  readonly #database: DuckDb
  readonly #connection: DuckDBConnection
  readonly #path: string
  readonly #file: string
  readonly #from: string

  private constructor(database: DuckDb, path: string, file: string) {
    this.#database = database
    this.#connection = database.connection
    this.#path = path
    this.#file = file
    this.#from = parquetSql(path)
  }

  /** Opens a session that can only read this one file; the restriction cannot be lifted. */
  static async open(path: string, file: string, options: ParquetOptions): Promise<ParquetDatabase> {
    const database = await openDuckDb({
      threads: options.threads ?? THREADS,
      memoryLimit: `${options.databaseMegabytes ?? DEFAULT_DATABASE_MEGABYTES}MB`,
      files: [path],
      settings: [
        "SET streaming_buffer_size = '16MB'",
        // Read geometries as bytes, so that an invalid one is a problem of its row and not of the whole file.
        'SET enable_geoparquet_conversion = false',
        'SET ignore_unknown_crs = true',
      ],
    })
    return new ParquetDatabase(database, path, file)
  }

  close(): void {
    this.#database.close()
  }

  async #rows(sql: string): Promise<unknown[][]> {
    try {
      return (await this.#connection.runAndReadAll(sql)).getRows()
    } catch (error) {
      throw this.#refusal(error)
    }
  }

  #refusal(error: unknown): Error {
    if (isOutOfMemory(error)) return error as Error
    const [line = ''] = (error as Error).message.split('\n')
    const reason = line
      .replaceAll(this.#path, this.#file)
      .replace(/^[\w ]*Error: /, '')
      .replace(/\.$/, '')
    return new SourceError(`${this.#file} cannot be read: ${reason}.`)
  }

  async describe(schema: SchemaElement[]): Promise<DescribedColumn[]> {
    const ownNames = columnElements(schema).map(([column]) => column!.name)
    const rows = await this.#rows(`DESCRIBE SELECT * FROM ${this.#from}`)
    const columns = rows.map(
      ([name, type], i): DescribedColumn => ({
        name: ownNames[i] ?? String(name),
        id: quoteName(String(name)),
        type: String(type),
      }),
    )
    const native = columns.find(({ type }) => type.startsWith('GEOMETRY'))
    if (native) native.nativeCrs = await this.#nativeCrs(native.name)
    return columns
  }

  /**
   * The CRS of Parquet's geometry type, from the schema itself, because DuckDB drops those that it does not
   * know from the column's type. According to the specification it is `srid:<number>`, `projjson:<key>` for
   * PROJJSON under that key in the file's metadata, or any other text of the writer; absent means longitude
   * and latitude in WGS84.
   */
  async #nativeCrs(column: string): Promise<string | undefined> {
    const [row] = await this.#rows(`SELECT logical_type FROM parquet_schema(${quoteText(this.#path)})
      WHERE name = ${quoteText(column)} AND logical_type LIKE 'Geo%Type(%'`)
    const crs = /^Geo\w+Type\(crs=(.*?)(?:, algorithm=\w*)?\)$/s.exec(String(row?.[0] ?? ''))?.[1]
    if (crs === undefined || crs === '' || crs === '<null>') return undefined
    const key = /^projjson:(.+)$/s.exec(crs)?.[1]
    if (key === undefined) return crs
    const [entry] = await this.#rows(`SELECT decode(value) FROM parquet_kv_metadata(${quoteText(this.#path)})
      WHERE decode(key) = ${quoteText(key)}`)
    if (!entry)
      throw new SourceError(
        `${this.#file} says that its CRS is under "${key}" in its metadata, but has no such entry. Name it with --crs.`,
      )
    return String(entry[0])
  }

  async geoMetadata(): Promise<string | null> {
    const sql = `SELECT decode(value) FROM parquet_kv_metadata(${quoteText(this.#path)}) WHERE decode(key) = 'geo'`
    const [row] = await this.#rows(sql)
    return row ? String(row[0]) : null
  }

  async schema(): Promise<SchemaElement[]> {
    const rows =
      await this.#rows(`SELECT name, num_children, logical_type, precision, scale, converted_type, type
      FROM parquet_schema(${quoteText(this.#path)})`)
    return rows.map(([name, children, logical, precision, scale, converted, physical]) => {
      const stated = /^DecimalType\(scale=(\d+), precision=(\d+)\)$/.exec(String(logical))
      const isDecimal = stated !== null || converted === 'DECIMAL'
      return {
        name: String(name),
        children: Number(children ?? 0),
        digits: isDecimal ? Number(stated?.[2] ?? precision) : null,
        scale: isDecimal ? Number(stated?.[1] ?? scale) : null,
        isCutTime:
          physical === 'INT96' ||
          /^TimestampType\(isAdjustedToUTC=1, .*NANOS=NanoSeconds/.test(String(logical)),
      }
    })
  }

  async count(): Promise<number> {
    const [row] = await this.#rows(`SELECT count(*) FROM ${this.#from}`)
    return Number(row![0])
  }

  /** Measures the values of rows. The sizes are SQL. */
  async measure(sizes: string[], block: RowRange | null, stepRows: number): Promise<RowSizes[]> {
    const size = sizes.map((each) => `coalesce(${each}, 0)`).join(' + ')
    const sums = 'count(*), CAST(sum(size) AS DOUBLE), CAST(max(size) AS DOUBLE)'
    const measured = await this.#rows(
      block === null
        ? `SELECT ${sums} FROM (SELECT ${size} AS size FROM ${this.#from})`
        : `SELECT ${sums} FROM (SELECT ${ROW_NUMBER} AS row, ${size} AS size FROM ${this.#from}${rangeOf(block)})
           GROUP BY (row - ${block.firstRow - 1}) // ${stepRows} ORDER BY min(row)`,
    )
    return measured.map(([rows, bytes, largest]) => ({
      rows: Number(rows),
      bytes: Number(bytes),
      largest: Number(largest),
    }))
  }

  /** The values by column, a few thousand rows at a time; the geometry comes first if there is one. */
  async *columns(
    geometry: ParquetGeometry | null,
    columns: ParquetColumn[],
    block: RowRange | null,
  ): AsyncGenerator<unknown[][]> {
    const selected = [...(geometry ? [geometry.sql] : []), ...columns.map(({ sql }) => sql)]
    const list = selected.length > 0 ? selected.join(', ') : 'true'
    let next: Promise<DuckDBDataChunk | null> = Promise.resolve(null)
    try {
      const result = await this.#connection.stream(`SELECT ${list} FROM ${this.#from}${rangeOf(block)}`)
      next = result.fetchChunk()
      for (;;) {
        const chunk = await next
        if (!chunk || chunk.rowCount === 0) return
        // Fetch the next chunk while this one is converted to rows.
        next = result.fetchChunk()
        next.catch(() => {})
        yield chunk.getColumns()
      }
    } catch (error) {
      throw this.#refusal(error)
    } finally {
      // The session must not be closed during a fetch.
      await next.catch(() => {})
    }
  }
}

function rangeOf(block: RowRange | null): string {
  if (block === null) return ''
  const { firstRow, rows } = block
  return ` WHERE ${ROW_NUMBER} >= ${firstRow - 1} AND ${ROW_NUMBER} < ${firstRow - 1 + rows}`
}
