import { open } from 'node:fs/promises'
import { readFully } from '../../bytes/read-fully.ts'
import type { FeatureStream } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { BlockStream } from '../reading/block-stream.ts'
import type { CoordinateChoice } from '../reading/read-options.ts'
import { DEFAULT_LIMITS, maxValueBytes } from '../reading/source-limits.ts'
import { inspectDictionaries } from './inspect-dictionaries.ts'
import type { ParquetBlock, ParquetOptions, ParquetParsing, ParquetPart, RowRange } from './parquet-block.ts'
import { ParquetDatabase } from './parquet-database.ts'
import { type Batch, type ParquetFile, ParquetRows } from './parquet-rows.ts'
import { describeTable, type ParquetTable } from './parquet-table.ts'

/** The usual size of a row group, so that blocks split few of them. */
const BLOCK_ROWS = 122_880

export interface ParquetStream extends FeatureStream {
  readonly rows: number
  /** The columns of the coordinates, by which other files with the same columns are read alike. */
  readonly coordinates: CoordinateChoice
  /** Reads a range of rows; not possible after `close`. */
  read(range: RowRange): AsyncGenerator<Batch>
  close(): void
}

export type ParquetBlocks = BlockStream<ParquetParsing, ParquetBlock>

/** Reads Parquet and GeoParquet with DuckDB, column by column. */
export async function openParquet(
  path: string,
  file: string,
  options: ParquetOptions = {},
): Promise<ParquetStream | (ParquetStream & ParquetBlocks)> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const size = await refuseTruncated(path, file)
  if (!options.isInspected) await inspectDictionaries({ path, file, limits })
  const database = await ParquetDatabase.open(path, file, options)
  try {
    const table = await describeTable(database, path, file, options)
    const maxBytes = maxValueBytes(size, limits, true)
    const source = { path, file, database, limits: { rowBytes: limits.rowBytes, maxBytes, fileBytes: size } }
    const rows = await ParquetRows.open(source, table, { ...options.coordinates, crs: options.crs })
    return streamOf(source, table, rows, options)
  } catch (error) {
    database.close()
    throw error
  }
}

function streamOf(
  source: ParquetFile,
  table: ParquetTable,
  rows: ParquetRows,
  options: ParquetOptions,
): ParquetStream | (ParquetStream & ParquetBlocks) {
  const { database, limits } = source
  const { geometry, rows: total } = table
  const { coordinates } = rows
  const size = limits.fileBytes
  let row = 0
  const stream: ParquetStream = {
    columns: rows.columns.map(({ name, type, number }) => ({ name, type, number })),
    notes: [...rows.columns.flatMap(({ note }) => note ?? []), ...table.notes, ...(coordinates?.notes ?? [])],
    crs: geometry ? geometry.crs : (coordinates?.crs ?? null),
    spatial: geometry !== null || coordinates?.columns != null,
    totalBytes: size,
    get bytesRead() {
      return total === 0 ? size : Math.round((row / total) * size)
    },
    rows: total,
    coordinates: geometry ? {} : rows.coordinateChoice(),
    read: (range) => rows.read(range),
    close: () => database.close(),
    async *batches() {
      try {
        for (const range of table.hasRowNumbers ? rangesOf(total) : [{ firstRow: 1, rows: total }]) {
          for await (const batch of rows.read(range)) {
            row += batch.length
            yield batch
          }
        }
      } finally {
        database.close()
      }
    },
  }
  if (!options.stays || !table.hasRowNumbers) return stream
  return Object.assign(stream, {
    parsing: {
      format: 'parquet' as const,
      columns: stream.columns,
      parts: [partOf(source, table, stream.columns.length, options)],
    },
    async *blocks() {
      database.close()
      for (const range of rangesOf(total)) {
        yield { part: 0, ...range }
        row += range.rows
      }
    },
  })
}

/** For the workers that read the blocks, which open the file again. */
function partOf(
  { path, file }: ParquetFile,
  { fineTimes }: ParquetTable,
  columns: number,
  { limits = DEFAULT_LIMITS, crs, coordinates, databaseMegabytes }: ParquetOptions,
): ParquetPart {
  return {
    path,
    file,
    options: { limits, crs, coordinates, databaseMegabytes, threads: 1, fineTimes, isInspected: true },
    rowsBefore: 0,
    places: Array.from({ length: columns }, (_, i) => i),
    constants: [],
  }
}

/** The ranges in which the rows of a file are read. */
export function* rangesOf(total: number): Generator<RowRange> {
  for (let row = 0; row < total; row += BLOCK_ROWS)
    yield { firstRow: row + 1, rows: Math.min(BLOCK_ROWS, total - row) }
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
