import type { Feature, Geometry, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { type FoundColumns, findCoordinateColumns, otherColumns } from '../reading/coordinate-columns.ts'
import { geometryReader } from '../reading/coordinate-reader.ts'
import type { CoordinateChoice } from '../reading/read-options.ts'
import { ExactColumns } from './exact-columns.ts'
import type { RowRange } from './parquet-block.ts'
import type { ParquetColumn } from './parquet-column.ts'
import { type ParquetDatabase, ROW_NUMBER } from './parquet-database.ts'
import type { ParquetTable } from './parquet-table.ts'
import { type Measure, RANGE_BYTES, type RangeLimits, sizedRanges } from './sized-ranges.ts'

/** The number of rows used to detect coordinate columns. */
const SAMPLE_ROWS = 1000

export type Batch = (Feature | UnreadableRow)[]

export interface ParquetFile {
  path: string
  file: string
  database: ParquetDatabase
  limits: RangeLimits
}

interface RowGeometry {
  /** Whether it is made from the table's columns; otherwise it has a separate column, which comes first. */
  usesTable: boolean
  read(value: unknown, row: Value[]): Geometry | null | string
}

/** Reads the rows of a Parquet file as features. */
export class ParquetRows {
  /** The columns that become values of features: all but those of the coordinates. */
  readonly columns: ParquetTable['columns']
  /** The columns that make the geometry, if the metadata names none. */
  readonly coordinates: FoundColumns | null
  readonly #source: ParquetFile
  readonly #table: ParquetTable
  readonly #geometry: RowGeometry | null
  /** The columns that are read. */
  readonly #read: ParquetColumn[]

  /** Looks for coordinate columns in the first rows if the metadata names no geometry. */
  static async open(
    source: ParquetFile,
    table: ParquetTable,
    choice: CoordinateChoice & { crs?: string },
  ): Promise<ParquetRows> {
    if (table.geometry) return new ParquetRows(source, table, null)
    const sample = await sampleOf(source, table)
    const names = table.columns.map(({ name }) => name)
    return new ParquetRows(
      source,
      table,
      findCoordinateColumns(names, sample, { ...choice, file: source.file }),
    )
  }

  private constructor(source: ParquetFile, table: ParquetTable, coordinates: FoundColumns | null) {
    this.#source = source
    this.#table = table
    this.coordinates = coordinates
    this.columns = coordinates
      ? otherColumns(table.columns.length, coordinates.columns).map((i) => table.columns[i]!)
      : table.columns
    this.#geometry = geometryOf(table, coordinates)
    this.#read = this.#geometry?.usesTable ? table.columns : this.columns
  }

  /** What chooses the same coordinates in another file with these columns. */
  coordinateChoice(): CoordinateChoice {
    const found = this.coordinates?.columns
    if (!found) return { geometry: false }
    const name = (index: number) => this.#table.columns[index]!.name
    return found.kind === 'pair'
      ? { longitude: name(found.x), latitude: name(found.y) }
      : { geometryColumn: name(found.column) }
  }

  async *read(block: RowRange): AsyncGenerator<Batch> {
    const { path, file, database } = this.#source
    const { geometry, columns } = this.#table
    const exact = columns.flatMap((column) => (column.exact ? [{ name: column.name, ...column.exact }] : []))
    let before = block.firstRow - 1
    const exactColumns = exact.length > 0 ? await ExactColumns.open(path, file, exact) : null
    try {
      for await (const range of readableRanges(this.#source, this.#table, block)) {
        for await (const values of database.columns(geometry, this.#read, range)) {
          if (exactColumns) await this.#insertExact(values, exactColumns, before)
          const batch = this.#toRows(values, before)
          before += batch.length
          yield batch
        }
      }
    } finally {
      await exactColumns?.close()
    }
  }

  /** Puts the values that the database does not read exactly in the place of its nulls. */
  async #insertExact(values: unknown[][], exactColumns: ExactColumns, before: number): Promise<void> {
    const first = this.#table.geometry ? 1 : 0
    const places = this.#read.flatMap(({ exact }, i) => (exact ? [first + i] : []))
    const read = await exactColumns.read(before, values[0]?.length ?? 0)
    for (const [i, place] of places.entries()) values[place] = read[i]!
  }

  #toRows(values: unknown[][], before: number): Batch {
    const read = this.#read
    const geometry = this.#geometry
    const first = geometry && !geometry.usesTable ? 1 : 0
    const places = this.columns.map((column) => read.indexOf(column))
    const batch: Batch = []
    for (let i = 0; i < (values[0]?.length ?? 0); i++) {
      const table: Value[] = new Array(read.length)
      for (let column = 0; column < read.length; column++)
        table[column] = read[column]!.convert(values[column + first]![i])
      const row = before + i + 1
      const shape = geometry === null ? null : geometry.read(first === 1 ? values[0]![i] : null, table)
      if (typeof shape === 'string') batch.push({ row, problem: shape })
      else {
        const kept = read === this.columns ? table : places.map((place) => table[place]!)
        batch.push({ id: null, values: kept, geometry: shape, row })
      }
    }
    return batch
  }
}

function geometryOf(
  { geometry, columns }: ParquetTable,
  coordinates: FoundColumns | null,
): RowGeometry | null {
  if (geometry) return { usesTable: false, read: (value) => (value === null ? null : geometry.read(value)) }
  if (!coordinates?.columns) return null
  const names = columns.map(({ name }) => name)
  const read = geometryReader(coordinates.columns, names, coordinates.crs)
  return { usesTable: true, read: (_, row) => read(row) }
}

/** The first rows. One range is enough: if there are more, their rows are large. */
async function sampleOf(source: ParquetFile, table: ParquetTable): Promise<Value[][]> {
  const { columns, rows } = table
  const ranges = readableRanges(source, table, { firstRow: 1, rows: Math.min(SAMPLE_ROWS, rows) })
  const { value: range } = await ranges.next()
  await ranges.return(undefined)
  const sample: Value[][] = []
  for await (const values of source.database.columns(null, columns, range ?? null)) {
    for (let i = 0; i < (values[0]?.length ?? 0); i++)
      sample.push(columns.map(({ convert }, column) => convert(values[column]![i])))
    if (sample.length >= SAMPLE_ROWS) break
  }
  return sample
}

/** The ranges in which the rows of a block are read; null is the whole file, if its rows cannot be selected. */
async function* readableRanges(
  { database, file, limits }: ParquetFile,
  { geometry, columns, hasRowNumbers }: ParquetTable,
  block: RowRange,
): AsyncGenerator<RowRange | null> {
  // The SQL of the sizes of all values whose size varies.
  const sizes = [geometry, ...columns].flatMap((column) => column?.size ?? [])
  if (sizes.length === 0) yield hasRowNumbers ? block : null
  else if (hasRowNumbers) {
    const measure: Measure = (each, stepRows) => database.measure(sizes, each, stepRows)
    yield* sizedRanges(block, measure, file, limits)
  } else {
    const [whole] = await database.measure(sizes, null, 0)
    if (whole!.bytes > RANGE_BYTES)
      throw new SourceError(
        `${file} is too large to be read at once, and has a column named ${ROW_NUMBER}, so it cannot be read in parts. Rename the column.`,
      )
    yield null
  }
}
