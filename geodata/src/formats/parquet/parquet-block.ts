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

/** A range of rows, for a worker that opens the file again to read them. */
export interface ParquetBlock {
  firstRow: number
  rows: number
}

/** What a worker needs to read the blocks. */
export interface ParquetParsing {
  format: 'parquet'
  path: string
  file: string
  options: ParquetOptions
}
