import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { writeColumns } from '../columns/write-columns.ts'
import { type Column, type ColumnType, GEOMETRY_TYPES, type GeometryType } from '../feature.ts'
import type { Bbox } from '../geometry/bbox.ts'
import { type DuckDb, openDuckDb } from '../open-duckdb.ts'
import { FEATURE_TAIL, PROPERTIES_HEAD } from '../pack/pack.ts'
import { parquetSql, quoteName, quoteText } from '../quote-sql.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { columnSql, jsonTextSql, numberText, textSql } from './columns/column-sql.ts'
import { ColumnsThread } from './columns-in-thread.ts'
import type { ColumnProfile } from './stage/staged-column.ts'
import { KIND } from './values/value-kinds.ts'

/** Starting a thread takes longer than compiling the columns of fewer rows. */
const ROWS_FOR_THREAD = 200_000
/** The memory limit of the database that reads columns in a thread. */
const COLUMNS_MEGABYTES = 256
/** Longer values are cut in a preview. */
const SHOWN_CHARACTERS = 200
/** The options of COPY for row files. */
const PARQUET = 'FORMAT parquet, COMPRESSION zstd'

/** A published column and how it was staged. */
export interface FinalColumn extends Column {
  profile: ColumnProfile
}

/** The staged values that are used as feature ids; null if ids are row numbers. */
export type IdSource = { profile: ColumnProfile; type: ColumnType } | null

/** The column of ids that is not one of the dataset's own columns. */
export interface ExtraIds {
  name: string
  source: IdSource
  isRowNumber: boolean
}

export interface AssembleOptions {
  folder: string
  /** The folder with the staged files. */
  staging: string
  files: string[]
  columns: FinalColumn[]
  spatial: boolean
  /** See `hasPointsFile` of the manifest. */
  hasPointsFile: boolean
  /** Whether any geometry was staged, and whether boxes were, which is not the case if all are points. */
  hasGeometry: boolean
  hasShapes: boolean
  memoryMegabytes: number
  threads: number
}

/**
 * A DuckDB database over the staged files. It types, sorts and writes the row files of a snapshot, and spills
 * to the temporary folder when it exceeds its memory limit.
 */
export class Assembly {
  readonly #connection: DuckDBConnection
  readonly #database: DuckDb
  readonly #options: AssembleOptions
  #source = 'staged'
  #columnsThread: ColumnsThread | null = null

  private constructor(database: DuckDb, options: AssembleOptions) {
    this.#database = database
    this.#connection = database.connection
    this.#options = options
  }

  static async open(options: AssembleOptions): Promise<Assembly> {
    const temporaryFolder = spillFolder(options.staging)
    // An attempt that was killed may have left some.
    await rm(temporaryFolder, { recursive: true, force: true })
    await mkdir(temporaryFolder, { recursive: true })
    const database = await openDuckDb({
      threads: options.threads,
      memoryLimit: `${options.memoryMegabytes}MB`,
      folders: [options.folder, options.staging],
      temporaryFolder,
    })
    await database.connection.run(`CREATE VIEW staged AS ${stagedSql(options)}`)
    return new Assembly(database, options)
  }

  close(): void {
    this.#columnsThread?.stop()
    this.#database.close()
  }

  /** Cancels the running query. */
  interrupt(): void {
    this.#connection.interrupt()
  }

  async sourceIdsRepeat(profile: ColumnProfile): Promise<boolean> {
    const id = columnSql(profile, 'text')
    const [row] = await this.#rows(`SELECT count(*) > count(DISTINCT ${id}) FROM staged`)
    return row![0] === true
  }

  /** Rows whose id is missing, empty or repeats an earlier one, in source order; at most `limit` are listed. */
  async badIds(
    column: FinalColumn,
    limit: number,
  ): Promise<{ rows: { row: number; id: string | null }[]; count: number }> {
    // Usually there are none, and finding that out takes a fraction of the memory and time.
    const [unique] = await this.#rows(
      `SELECT count(*) = count(DISTINCT ${this.#usableIdSql(column)}) FROM staged`,
    )
    if (unique![0] === true) return { rows: [], count: 0 }
    const bad = this.#badIdsSql(column)
    const [total] = await this.#rows(`SELECT count(*) FROM (${bad})`)
    const listed = await this.#rows(`SELECT row, id FROM (${bad}) ORDER BY row LIMIT ${limit}`)
    return {
      count: Number(total![0]),
      rows: listed.map(([row, id]) => ({ row: Number(row), id: id as string | null })),
    }
  }

  /** Aggregates over the texts of a column, which the expressions call `t`; empty texts are left out. */
  async aggregateTexts(profile: ColumnProfile, expressions: string[]): Promise<unknown[]> {
    const texts = `SELECT ${textSql(profile)} AS t, row FROM ${this.#source}`
    const [row] = await this.#rows(`SELECT ${expressions.join(', ')} FROM (${texts}) WHERE t <> ''`)
    return row!
  }

  /** The texts of the published values of the first rows, and the types of their geometries. */
  async firstRows(
    columns: FinalColumn[],
    limit: number,
  ): Promise<{ row: number; values: (string | null)[]; geometry: string | null }[]> {
    const values = columns.map(({ profile, type }) => {
      const text = shownTextSql(`(${columnSql(profile, type)})`, type)
      return `CASE WHEN length(${text}) > ${SHOWN_CHARACTERS} THEN left(${text}, ${SHOWN_CHARACTERS}) || '…' ELSE ${text} END`
    })
    const rows = await this.#rows(
      `SELECT ${['row', 'wkb', ...values].join(', ')} FROM staged ORDER BY row LIMIT ${limit}`,
    )
    return rows.map(([row, wkb, ...texts]) => ({
      row: Number(row),
      values: texts as (string | null)[],
      geometry: wkb === null ? null : wkbType(wkb as Uint8Array),
    }))
  }

  /** Points on some of the geometries, spread over all rows. */
  async somePlaces(limit: number): Promise<[number, number][]> {
    const rows = await this.#rows(
      `SELECT longitude, latitude FROM staged WHERE longitude IS NOT NULL ORDER BY hash(row), row LIMIT ${limit}`,
    )
    return rows.map(([longitude, latitude]) => [Number(longitude), Number(latitude)])
  }

  async excludeBadIds(column: FinalColumn): Promise<void> {
    await this.#connection.run(`CREATE TABLE excluded AS SELECT row FROM (${this.#badIdsSql(column)})`)
    this.#source = '(SELECT * FROM staged WHERE row NOT IN (SELECT row FROM excluded))'
  }

  #usableIdSql({ profile, type }: FinalColumn): string {
    return `nullif(${columnSql(profile, type)}::VARCHAR, '')`
  }

  #badIdsSql(column: FinalColumn): string {
    const id = this.#usableIdSql(column)
    return `SELECT row, id FROM (SELECT row, ${id} AS id, row_number() OVER (PARTITION BY ${id} ORDER BY row) AS nth FROM staged) WHERE id IS NULL OR nth > 1`
  }

  async bounds(): Promise<{ rows: number; located: number; bbox: Bbox | null }> {
    const [west, south, east, north] = this.#boxSql()
    const [row] = await this.#rows(
      `SELECT count(*), count(longitude), min(${west}), min(${south}), max(${east}), max(${north}) FROM ${this.#source}`,
    )
    const located = Number(row![1])
    return { rows: Number(row![0]), located, bbox: located > 0 ? (row!.slice(2).map(Number) as Bbox) : null }
  }

  /** Whether the ids are the numbers of their rows. */
  async areRowNumbers({ profile, type }: NonNullable<IdSource>): Promise<boolean> {
    const [row] = await this.#rows(
      `SELECT coalesce(bool_and(${columnSql(profile, type)} = row), true) FROM ${this.#source}`,
    )
    return row![0] === true
  }

  /** Whether a column has the same values as the ids. */
  async areIds({ profile, type }: NonNullable<IdSource>, column: FinalColumn): Promise<boolean> {
    const id = `(${idValueSql({ profile, type })})::VARCHAR`
    const value = `(${columnSql(column.profile, column.type)})::VARCHAR`
    const [row] = await this.#rows(
      `SELECT coalesce(bool_and(${id} IS NOT DISTINCT FROM ${value}), true) FROM ${this.#source}`,
    )
    return row![0] === true
  }

  async writeRows(id: ExtraIds | null): Promise<void> {
    const { columns, spatial } = this.#options
    const values = columns.map(
      (column) => `${columnSql(column.profile, column.type)} AS ${quoteName(column.name)}`,
    )
    if (id?.source && !id.isRowNumber) {
      values.unshift(`${idValueSql(id.source)} AS ${quoteName(id.name)}`)
    }
    if (spatial) values.push('ST_GeomFromWKB(wkb) AS geometry')
    // A table without any column still has rows.
    const list = values.length > 0 ? values.join(', ') : 'row AS "row"'
    await this.#copy(list, this.#file(SNAPSHOT_FILES.rows), PARQUET)
  }

  /** Writes a point on each geometry, unless all of them are points. */
  async writePoints(): Promise<void> {
    if (!this.#options.hasPointsFile) return
    await this.#copy('longitude, latitude', this.#file(SNAPSHOT_FILES.points), PARQUET)
  }

  /** Prepares for `writeColumns`. Returns whether the columns of so many rows are compiled in a thread. */
  startColumnsThread(rows: number): boolean {
    if (rows < ROWS_FOR_THREAD) return false
    const { folder, staging } = this.#options
    this.#columnsThread = new ColumnsThread({
      folder,
      temporaryFolder: join(spillFolder(staging), 'columns'),
      memoryMegabytes: COLUMNS_MEGABYTES,
    })
    return true
  }

  /**
   * Writes the compiled columns, and returns their statistics. Call it after the rows are written.
   */
  async writeColumns(rows: number, signal?: AbortSignal): Promise<Manifest['statistics']> {
    const columns = this.#options.columns.map(({ name, type, nullable, profile }) => {
      return { name, type, nullable, isWide: (profile.kinds & KIND.wideInteger) !== 0 }
    })
    const rowsPath = this.#file(SNAPSHOT_FILES.rows)
    const path = this.#file(SNAPSHOT_FILES.columns)
    const thread = this.#columnsThread
    if (thread) return thread.write({ rowsPath, path, rows, columns }, signal)
    const source = { instance: this.#database.instance, from: parquetSql(rowsPath), rows }
    return writeColumns(path, source, columns, signal)
  }

  /** The earliest and the latest value of a date or timestamp column. Call it after the rows are written. */
  async timeExtent(name: string): Promise<[string, string] | null> {
    const { type } = this.#options.columns.find((column) => column.name === name)!
    const ends = ['min', 'max'].map((end) => jsonTextSql(`${end}(${quoteName(name)})`, type))
    const [row] = await this.#rows(
      `SELECT ${ends.join(', ')} FROM ${parquetSql(this.#file(SNAPSHOT_FILES.rows))}`,
    )
    const texts = row!.map((text) => JSON.parse((text as string | null) ?? 'null') as string | null)
    return texts[0] === null ? null : (texts as [string, string])
  }

  /** Writes ids and properties of all features as `PropertyLines`, for a pack whose runs have none. */
  async writePropertyLines(path: string, id: IdSource): Promise<void> {
    const members = this.#options.columns.map((column, index) => {
      const name = quoteText(`${index === 0 ? '' : ','}${JSON.stringify(column.name)}:`)
      const text = jsonTextSql(`(${columnSql(column.profile, column.type)})`, column.type)
      return `${name}, coalesce(${text}, 'null')`
    })
    const line = [
      'row::VARCHAR',
      'chr(9)',
      this.#idSql(id),
      'chr(9)',
      quoteText(`${PROPERTIES_HEAD}{`),
      ...members,
      quoteText(`}${FEATURE_TAIL},`),
    ]
    await this.#copy(
      `concat(${line.join(', ')})`,
      path,
      `FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01'`,
    )
  }

  #boxSql(): string[] {
    return this.#options.hasShapes
      ? [
          'coalesce(west, longitude)',
          'coalesce(south, latitude)',
          'coalesce(east, longitude)',
          'coalesce(north, latitude)',
        ]
      : ['longitude', 'latitude', 'longitude', 'latitude']
  }

  #idSql(id: IdSource): string {
    if (id === null) return 'row::VARCHAR'
    const value = `(${columnSql(id.profile, id.type)})`
    const text = id.type === 'number' ? numberText(value) : jsonTextSql(value, id.type)
    // An id is an integer or a string, so a number or boolean is converted to a string.
    return id.type === 'number' || id.type === 'boolean' ? `to_json(${text})::VARCHAR` : text
  }

  #file(name: string): string {
    return join(this.#options.folder, name)
  }

  async #copy(list: string, path: string, format: string): Promise<void> {
    await this.#connection.run(
      // Qualified, because a column of the dataset may be named `key` or `row`.
      `COPY (SELECT ${list} FROM ${this.#source} AS s ORDER BY s.key, s.row) TO ${quoteText(path)} (${format})`,
    )
  }

  async #rows(sql: string): Promise<unknown[][]> {
    return (await this.#connection.runAndReadAll(sql)).getRowsJS() as unknown[][]
  }
}

/** An id as a value: an integer, or the text that is the id in the features. */
function idValueSql({ profile, type }: NonNullable<IdSource>): string {
  const value = columnSql(profile, type)
  if (type === 'integer' || type === 'text') return value
  if (type === 'number') return numberText(`(${value})`)
  // The JSON text of a date, a timestamp or a boolean has no quotes but the outer ones.
  return `trim(${jsonTextSql(`(${value})`, type)}, '"')`
}

/** The type of a geometry that was staged: little-endian ISO WKB, whose codes of types with heights begin at 1000. */
function wkbType(wkb: Uint8Array): GeometryType {
  const code = new DataView(wkb.buffer, wkb.byteOffset).getUint32(1, true) % 1000
  return GEOMETRY_TYPES[code - 1]!
}

/** A value as people read it: the JSON text without the quotes. */
function shownTextSql(value: string, type: ColumnType): string {
  if (type === 'text') return value
  const text = jsonTextSql(value, type)
  return type === 'date' || type === 'timestamp' ? `trim(${text}, '"')` : text
}

/** All staged files as one table, with the geometry columns present even if no file has them. */
function stagedSql({ files, hasGeometry }: AssembleOptions): string {
  const noPlace = `NULL::BLOB AS wkb, NULL::DOUBLE AS longitude, NULL::DOUBLE AS latitude`
  if (files.length === 0) return `SELECT NULL::DOUBLE AS key, NULL::BIGINT AS row, ${noPlace} WHERE false`
  const table = parquetSql(files, 'union_by_name = true')
  return hasGeometry ? `SELECT * FROM ${table}` : `SELECT *, ${noPlace} FROM ${table}`
}

/** Where DuckDB writes what does not fit into its memory. */
function spillFolder(staging: string): string {
  return join(staging, 'spill')
}
