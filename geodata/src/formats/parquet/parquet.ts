import { open } from 'node:fs/promises'
import type { Feature, FeatureStream, Geometry, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { findCoordinateColumns, otherColumns } from '../coordinate-columns.ts'
import { geometryReader } from '../coordinate-reader.ts'
import type { BlockParsing, BlockStream } from '../reading/block-stream.ts'
import type { CoordinateChoice } from '../reading/read-options.ts'
import { DEFAULT_LIMITS, largerThan, type SourceLimits } from '../reading/source-limits.ts'
import type { DescribedColumn } from './described-column.ts'
import { ExactColumns } from './exact-columns.ts'
import {
  cutTimesNote,
  findFineTimes,
  findNestedCutTimes,
  fineTimeColumn,
  nestedCutTimesNote,
} from './fine-times.ts'
import type { ParquetBlock, ParquetOptions } from './parquet-block.ts'
import { bytesOf, type ParquetColumn, parquetColumn } from './parquet-column.ts'
import { ParquetDatabase } from './parquet-database.ts'
import { findParquetGeometry, otherGeoColumns, type ParquetGeometry } from './parquet-geometry.ts'
import { findWideDecimals, wideDecimalColumn } from './wide-decimals.ts'

/** The usual size of a row group, so that blocks split few of them. */
const BLOCK_ROWS = 122_880
/** If the file has a column of this name, rows cannot be selected by row number. */
const ROW_NUMBER = 'file_row_number'
/** The number of rows used to detect coordinate columns. */
const SAMPLE_ROWS = 1000

type Batch = (Feature | UnreadableRow)[]

export interface ParquetStream extends FeatureStream {
  readonly rows: number
  /** Reads the rows of a block; not possible after `close`. */
  read(block: ParquetBlock): AsyncGenerator<Batch>
  close(): void
}

/** Reads Parquet and GeoParquet with DuckDB, column by column. */
export async function openParquet(
  path: string,
  file: string,
  options: ParquetOptions = {},
): Promise<ParquetStream | (ParquetStream & BlockStream)> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const size = await refuseTruncated(path, file)
  const database = await ParquetDatabase.open(path, file, options)
  try {
    const schema = await database.schema()
    const described = await database.describe(schema)
    if (described.length > limits.columns)
      throw new SourceError(`${file} has ${described.length} columns; at most ${limits.columns} are read.`)
    const metadata = await database.geoMetadata()
    const stated = findParquetGeometry(metadata, described, file)
    const others = otherGeoColumns(metadata, described, stated?.column, file)
    const wide = findWideDecimals(schema)
    const total = await database.count()
    const fineTimes = options.fineTimes ?? (await findFineTimes(path, file, schema, total))
    const nested = wide.nested.map((place) => described[place]!)
    const unread = new Set([stated?.column, ...others.coverings, ...nested])
    const columns = described.flatMap((column, place) => {
      if (unread.has(column)) return []
      const decimals = wide.columns.find((each) => each.place === place)
      const reading = decimals
        ? wideDecimalColumn(decimals)
        : fineTimes.fine.includes(place)
          ? fineTimeColumn(column)
          : (others.geometries.get(column) ?? parquetColumn(column))
      return { ...reading, number: place + 1 }
    })
    const coordinatesByName = stated
      ? null
      : await findByNames(database, columns, { ...options.coordinates, crs: options.crs, file })
    const valueColumns = coordinatesByName
      ? otherColumns(columns.length, coordinatesByName.columns).map((i) => columns[i]!)
      : columns
    const exact = columns.flatMap(({ name, exact }) => (exact ? [{ name, ...exact }] : []))
    let row = 0
    const shape = geometryOf(
      stated,
      coordinatesByName && { ...coordinatesByName, names: columns.map(({ name }) => name) },
    )
    const table = shape?.usesTable ? columns : valueColumns
    const read = async function* (block: ParquetBlock | null): AsyncGenerator<Batch> {
      let before = block === null ? 0 : block.firstRow - 1
      const exactColumns = exact.length > 0 ? await ExactColumns.open(path, file, exact) : null
      try {
        for await (const values of database.columns(stated, table, rangeOf(block))) {
          if (exactColumns) await insertExact(values, table, stated ? 1 : 0, exactColumns, before)
          if (stated) refuseLarge(values[0]!, before, file, limits)
          const batch = toRows(values, table, valueColumns, shape, before)
          before += batch.length
          yield batch
        }
      } finally {
        await exactColumns?.close()
      }
    }
    const stream: ParquetStream = {
      columns: valueColumns.map(({ name, type, number }) => ({ name, type, number })),
      notes: [
        ...valueColumns.flatMap(({ note }) => note ?? []),
        ...others.coverings.map(coveringNote),
        ...nested.map(nestedNote),
        ...fineTimes.unknown.map((place) => cutTimesNote(described[place]!)),
        ...findNestedCutTimes(schema).flatMap((place) =>
          unread.has(described[place]!) ? [] : nestedCutTimesNote(described[place]!),
        ),
        ...(coordinatesByName?.notes ?? []),
      ],
      crs: stated ? stated.crs : (coordinatesByName?.crs ?? null),
      spatial: stated !== null || coordinatesByName?.columns != null,
      totalBytes: size,
      get bytesRead() {
        return total === 0 ? size : Math.round((row / total) * size)
      },
      rows: total,
      read,
      close: () => database.close(),
      async *batches() {
        try {
          for await (const batch of read(null)) {
            row += batch.length
            yield batch
          }
        } finally {
          database.close()
        }
      },
    }
    if (!options.stays || described.some(({ name }) => name.toLowerCase() === ROW_NUMBER)) return stream
    // The workers that read the blocks open the file again.
    const { crs, coordinates, databaseMegabytes } = options
    const parsing: BlockParsing = {
      format: 'parquet',
      path,
      file,
      options: { limits, crs, coordinates, databaseMegabytes, threads: 1, fineTimes },
    }
    return Object.assign(stream, {
      parsing,
      async *blocks() {
        database.close()
        for (; row < total; row = Math.min(total, row + BLOCK_ROWS))
          yield { firstRow: row + 1, rows: Math.min(BLOCK_ROWS, total - row) }
      },
    })
  } catch (error) {
    database.close()
    throw error
  }
}

function coveringNote({ name }: DescribedColumn): string {
  return `Column ${name} holds the bounding boxes of the geometries: it is left out.`
}

function nestedNote({ name }: DescribedColumn): string {
  return `Column ${name} has decimals of more than 38 digits inside lists or structures, which cannot be read: it is left out.`
}

/** Puts the values that the database does not read exactly in the place of its nulls. */
async function insertExact(
  values: unknown[][],
  table: ParquetColumn[],
  first: number,
  exactColumns: ExactColumns,
  before: number,
): Promise<void> {
  const places = table.flatMap(({ exact }, i) => (exact ? [first + i] : []))
  const read = await exactColumns.read(before, values[0]?.length ?? 0)
  for (const [i, place] of places.entries()) values[place] = read[i]!
}

function refuseLarge(geometries: unknown[], before: number, file: string, { rowBytes }: SourceLimits): void {
  const large = geometries.findIndex((geometry) => sizeOf(geometry) > rowBytes)
  if (large >= 0) throw new SourceError(`${file}: row ${before + large + 1} is ${largerThan(rowBytes)}.`)
}

/** The size of a geometry as it is read: WKB, or the JSON of GeoArrow's nested arrays. */
function sizeOf(geometry: unknown): number {
  return typeof geometry === 'string' ? geometry.length : (bytesOf(geometry)?.length ?? 0)
}

function rangeOf(block: ParquetBlock | null): string {
  if (block === null) return ''
  const { firstRow, rows } = block
  return ` WHERE ${ROW_NUMBER} >= ${firstRow - 1} AND ${ROW_NUMBER} < ${firstRow - 1 + rows}`
}

async function refuseTruncated(path: string, file: string): Promise<number> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const end = Buffer.alloc(4)
    await handle.read(end, 0, 4, Math.max(0, size - 4))
    if (size < 12 || end.toString('latin1') !== 'PAR1')
      throw new SourceError(
        `${file} ends too early: a Parquet file ends with its footer, and this one has none.`,
      )
    return size
  } finally {
    await handle.close()
  }
}

async function findByNames(
  database: ParquetDatabase,
  columns: ParquetColumn[],
  choice: CoordinateChoice & { crs?: string; file: string },
) {
  const sample: Value[][] = []
  for await (const values of database.columns(null, columns, ` LIMIT ${SAMPLE_ROWS}`)) {
    for (let i = 0; i < (values[0]?.length ?? 0); i++)
      sample.push(columns.map(({ convert }, column) => convert(values[column]![i])))
  }
  return findCoordinateColumns(
    columns.map(({ name }) => name),
    sample,
    choice,
  )
}

interface RowGeometry {
  /** Whether it is made from the table's columns; otherwise it has a separate column, which comes first. */
  usesTable: boolean
  read(value: unknown, row: Value[]): Geometry | null | string
}

function geometryOf(
  stated: ParquetGeometry | null,
  coordinatesByName: ({ names: string[] } & ReturnType<typeof findCoordinateColumns>) | null,
): RowGeometry | null {
  if (stated) return { usesTable: false, read: (value) => (value === null ? null : stated.read(value)) }
  if (!coordinatesByName?.columns) return null
  const read = geometryReader(coordinatesByName.columns, coordinatesByName.names, coordinatesByName.crs)
  return { usesTable: true, read: (_, row) => read(row) }
}

function toRows(
  values: unknown[][],
  read: ParquetColumn[],
  valueColumns: ParquetColumn[],
  shape: RowGeometry | null,
  before: number,
): Batch {
  const first = shape && !shape.usesTable ? 1 : 0
  const places = valueColumns.map((column) => read.indexOf(column))
  const batch: Batch = []
  for (let i = 0; i < (values[0]?.length ?? 0); i++) {
    const table: Value[] = new Array(read.length)
    for (let column = 0; column < read.length; column++)
      table[column] = read[column]!.convert(values[column + first]![i])
    const row = before + i + 1
    const geometry = shape === null ? null : shape.read(first === 1 ? values[0]![i] : null, table)
    if (typeof geometry === 'string') batch.push({ row, problem: geometry })
    else
      batch.push({
        id: null,
        values: read === valueColumns ? table : places.map((place) => table[place]!),
        geometry,
        row,
      })
  }
  return batch
}
