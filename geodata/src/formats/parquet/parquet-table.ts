import { SourceError } from '../../source-error.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import type { DescribedColumn } from './described-column.ts'
import {
  cutTimesNote,
  type FineTimes,
  findFineTimes,
  findNestedCutTimes,
  fineTimeColumn,
  nestedCutTimesNote,
} from './fine-times.ts'
import type { ParquetOptions } from './parquet-block.ts'
import { type ParquetColumn, parquetColumn } from './parquet-column.ts'
import { type ParquetDatabase, ROW_NUMBER } from './parquet-database.ts'
import { findParquetGeometry, otherGeoColumns, type ParquetGeometry } from './parquet-geometry.ts'
import { findWideDecimals, wideDecimalColumn } from './wide-decimals.ts'

/** What a Parquet file contains, and how its columns are read. */
export interface ParquetTable {
  /** The geometry that the metadata names. */
  geometry: ParquetGeometry | null
  /** All other columns that are read, with their numbers in the file. */
  columns: (ParquetColumn & { number: number })[]
  rows: number
  /** Whether rows can be selected by their numbers. */
  hasRowNumbers: boolean
  fineTimes: FineTimes
  /** About columns that are left out or cut. */
  notes: string[]
}

export async function describeTable(
  database: ParquetDatabase,
  path: string,
  file: string,
  options: ParquetOptions,
): Promise<ParquetTable> {
  const { columns: maxColumns } = options.limits ?? DEFAULT_LIMITS
  const schema = await database.schema()
  const described = await database.describe(schema)
  if (described.length > maxColumns)
    throw new SourceError(`${file} has ${described.length} columns; at most ${maxColumns} are read.`)
  const metadata = await database.geoMetadata()
  const geometry = findParquetGeometry(metadata, described, file)
  const others = otherGeoColumns(metadata, described, geometry?.column, file)
  const wide = findWideDecimals(schema)
  const rows = await database.count()
  const fineTimes = options.fineTimes ?? (await findFineTimes(path, file, schema, rows))
  const nested = wide.nested.map((place) => described[place]!)
  const unread = new Set([geometry?.column, ...others.coverings, ...nested])
  const readingOf = (column: DescribedColumn, place: number): ParquetColumn => {
    const decimals = wide.columns.find((each) => each.place === place)
    if (decimals) return wideDecimalColumn(decimals)
    if (fineTimes.fine.includes(place)) return fineTimeColumn(column)
    return others.geometries.get(column) ?? parquetColumn(column)
  }
  return {
    geometry,
    columns: described.flatMap((column, place) =>
      unread.has(column) ? [] : { ...readingOf(column, place), number: place + 1 },
    ),
    rows,
    hasRowNumbers: !described.some(({ name }) => name.toLowerCase() === ROW_NUMBER),
    fineTimes,
    notes: [
      ...others.coverings.map(coveringNote),
      ...nested.map(nestedNote),
      ...fineTimes.unknown.map((place) => cutTimesNote(described[place]!)),
      ...findNestedCutTimes(schema).flatMap((place) =>
        unread.has(described[place]!) ? [] : nestedCutTimesNote(described[place]!),
      ),
    ],
  }
}

function coveringNote({ name }: DescribedColumn): string {
  return `Column ${name} holds the bounding boxes of the geometries: it is left out.`
}

function nestedNote({ name }: DescribedColumn): string {
  return `Column ${name} has decimals of more than 38 digits inside lists or structures, which cannot be read: it is left out.`
}
