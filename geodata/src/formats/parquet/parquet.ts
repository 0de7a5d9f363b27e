import { open } from 'node:fs/promises'
import { readFully } from '../../bytes/read-fully.ts'
import type { Feature, FeatureStream, Geometry, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { BlockStream } from '../reading/block-stream.ts'
import { findCoordinateColumns, otherColumns } from '../reading/coordinate-columns.ts'
import { geometryReader } from '../reading/coordinate-reader.ts'
import type { CoordinateChoice } from '../reading/read-options.ts'
import { DEFAULT_LIMITS, maxValueBytes } from '../reading/source-limits.ts'
import type { DescribedColumn } from './described-column.ts'
import { ExactColumns } from './exact-columns.ts'
import {
  cutTimesNote,
  findFineTimes,
  findNestedCutTimes,
  fineTimeColumn,
  nestedCutTimesNote,
} from './fine-times.ts'
import { inspectDictionaries } from './inspect-dictionaries.ts'
import type { ParquetBlock, ParquetOptions, ParquetParsing } from './parquet-block.ts'
import { type ParquetColumn, parquetColumn } from './parquet-column.ts'
import { ParquetDatabase, ROW_NUMBER } from './parquet-database.ts'
import { findParquetGeometry, otherGeoColumns, type ParquetGeometry } from './parquet-geometry.ts'
import { type Measure, RANGE_BYTES, type RangeLimits, sizedRanges } from './sized-ranges.ts'
import { findWideDecimals, wideDecimalColumn } from './wide-decimals.ts'

/** The usual size of a row group, so that blocks split few of them. */
const BLOCK_ROWS = 122_880
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
): Promise<ParquetStream | (ParquetStream & BlockStream<ParquetParsing, ParquetBlock>)> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const size = await refuseTruncated(path, file)
  if (!options.isInspected) await inspectDictionaries({ path, file, limits })
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
    const hasRowNumbers = !described.some(({ name }) => name.toLowerCase() === ROW_NUMBER)
    const sizes = [stated, ...columns].flatMap((column) => column?.size ?? [])
    const maxBytes = maxValueBytes(size, limits, true)
    const rangeLimits = { rowBytes: limits.rowBytes, maxBytes, fileBytes: size }
    const ranges = (block: ParquetBlock) =>
      readableRanges(database, block, { sizes, hasRowNumbers, file, limits: rangeLimits })
    const coordinatesByName = stated
      ? null
      : await findByNames(database, columns, ranges({ firstRow: 1, rows: Math.min(SAMPLE_ROWS, total) }), {
          ...options.coordinates,
          crs: options.crs,
          file,
        })
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
    const read = async function* (block: ParquetBlock): AsyncGenerator<Batch> {
      let before = block.firstRow - 1
      const exactColumns = exact.length > 0 ? await ExactColumns.open(path, file, exact) : null
      try {
        for await (const range of ranges(block)) {
          for await (const values of database.columns(stated, table, range)) {
            if (exactColumns) await insertExact(values, table, stated ? 1 : 0, exactColumns, before)
            const batch = toRows(values, table, valueColumns, shape, before)
            before += batch.length
            yield batch
          }
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
          for (const block of hasRowNumbers ? blocksOf(total) : [{ firstRow: 1, rows: total }]) {
            for await (const batch of read(block)) {
              row += batch.length
              yield batch
            }
          }
        } finally {
          database.close()
        }
      },
    }
    if (!options.stays || !hasRowNumbers) return stream
    // The workers that read the blocks open the file again.
    const { crs, coordinates, databaseMegabytes } = options
    const parsing: ParquetParsing = {
      format: 'parquet',
      path,
      file,
      options: { limits, crs, coordinates, databaseMegabytes, threads: 1, fineTimes, isInspected: true },
    }
    return Object.assign(stream, {
      parsing,
      async *blocks() {
        database.close()
        for (const block of blocksOf(total)) {
          yield block
          row += block.rows
        }
      },
    })
  } catch (error) {
    database.close()
    throw error
  }
}

function* blocksOf(total: number): Generator<ParquetBlock> {
  for (let row = 0; row < total; row += BLOCK_ROWS)
    yield { firstRow: row + 1, rows: Math.min(BLOCK_ROWS, total - row) }
}

interface Ranging {
  /** The SQL of the sizes of all values whose size varies. */
  sizes: string[]
  hasRowNumbers: boolean
  file: string
  limits: RangeLimits
}

/** The ranges in which the rows of a block are read; null is the whole file, if its rows cannot be selected. */
async function* readableRanges(
  database: ParquetDatabase,
  block: ParquetBlock,
  { sizes, hasRowNumbers, file, limits }: Ranging,
): AsyncGenerator<ParquetBlock | null> {
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

async function refuseTruncated(path: string, file: string): Promise<number> {
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const end = Buffer.alloc(4)
    await readFully(handle, end, Math.max(0, size - 4))
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
  ranges: AsyncGenerator<ParquetBlock | null>,
  choice: CoordinateChoice & { crs?: string; file: string },
) {
  const sample: Value[][] = []
  // The first range is enough: if there are more, their rows are large.
  const { value: range } = await ranges.next()
  await ranges.return(undefined)
  for await (const values of database.columns(null, columns, range ?? null)) {
    for (let i = 0; i < (values[0]?.length ?? 0); i++)
      sample.push(columns.map(({ convert }, column) => convert(values[column]![i])))
    if (sample.length >= SAMPLE_ROWS) break
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
