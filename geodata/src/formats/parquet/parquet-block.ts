import type { SourceColumn, Value } from '../../feature.ts'
import type { CoordinateChoice } from '../reading/read-options.ts'
import type { SourceLimits } from '../reading/source-limits.ts'
import type { FineTimes } from './fine-times.ts'

export interface ParquetOptions {
  limits?: SourceLimits
  crs?: string
  /** The publisher's choice of coordinate columns. */
  coordinates?: CoordinateChoice
  databaseMegabytes?: number
  threads?: number
  /** Known if the file was opened before. */
  fineTimes?: FineTimes
  /** Whether its dictionaries were examined before. */
  isInspected?: boolean
  /** Whether the file outlives the reading of its blocks; otherwise it is not split into blocks. */
  stays?: boolean
}

/** A range of rows of one file. */
export interface RowRange {
  firstRow: number
  rows: number
}

/** A range of rows of one of the parts, for a worker that opens the file again to read them. */
export interface ParquetBlock extends RowRange {
  part: number
}

/** A file, and how its rows become rows of the source. */
export interface ParquetPart {
  path: string
  file: string
  options: ParquetOptions
  /** The number of rows in the parts before. */
  rowsBefore: number
  /** For each column of the source that is in the file: its index among the columns of the file. */
  places: number[]
  /** The values of the columns that follow these, which are the same in all rows: those of its partition. */
  constants: Value[]
}

/** What a worker needs to read the blocks. */
export interface ParquetParsing {
  format: 'parquet'
  columns: SourceColumn[]
  parts: ParquetPart[]
}
