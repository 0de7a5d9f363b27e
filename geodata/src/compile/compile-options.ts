import type { ColumnFormat } from '@wayleave/contract/column-formats'
import type { CrsTransformation } from '../crs/crs-accuracy.ts'
import type { ColumnType } from '../feature.ts'
import type { GdalOptions } from '../formats/reading/gdal-options.ts'
import type { ReadOptions } from '../formats/reading/read-options.ts'
import type { SourceLimits } from '../formats/reading/source-limits.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import type { RowProblem } from '../source-error.ts'
import type { Revision, RevisionCounts } from './revise/revision.ts'

/** Limits for a source, in addition to those of its reader. */
export interface CompileLimits extends Partial<SourceLimits> {
  rows?: number
  /** The max time for the whole compilation in a child process, in seconds. */
  seconds?: number
  /**
   * The max time for which the child process may be unresponsive while it reads, in seconds. A view of a
   * GeoPackage can be computed without an end inside of SQLite, which cannot be interrupted.
   */
  stalledSeconds?: number
  /** The bytes that must stay free on the disk while a file is compiled. */
  minFreeBytes?: number
}

/** What the publisher fixed about a column. */
export interface ColumnChoice {
  /** The name of the column in the source. */
  source: string
  /** The published name, if it is another one. */
  name?: string
  type?: ColumnType
  /** How the texts of the source write numbers or dates; recognised if absent. */
  format?: ColumnFormat
  /** The column is not published. */
  isHidden?: boolean
  /** A source without the column is accepted. */
  isOptional?: boolean
}

/** One of several files of a source. */
export interface SourceFile {
  path: string
  /** The path with the folders of a partition, such as `year=2024/part-0.parquet`. */
  name: string
  /** The name for messages. */
  file: string
}

export interface CompileOptions extends ReadOptions {
  /** A file, or a folder of files whose rows are read together. */
  path: string
  /**
   * The file is still being written by the caller, up to this size, and is readable by everybody. Only for formats
   * that state their end in the file, as the rows of PostgreSQL do; the caller aborts if writing fails.
   */
  growsTo?: number
  /** Several files whose rows are read together; `path` is the first of them. */
  parts?: SourceFile[]
  /** The file name for reports and the manifest, if `path` is a temporary file. */
  file?: string
  /** The name of a format in the table of formats; detected from the file if absent. */
  format?: string
  layer?: string
  /** Overrides the CRS that the file states. */
  crs?: string
  /** Publish even if the CRS cannot be transformed to WGS84 within 20 m. */
  allowInaccurateCrs?: boolean
  idColumn?: string
  timeColumn?: string
  /** What the publisher fixed about columns. A source that lacks one of them, or whose values do not fit, is refused. */
  columns?: ColumnChoice[]
  /** Publish a source that differs from `columns`: choices that do not fit are left out and reported. */
  ignoresMisfits?: boolean
  /** The source has changes to the version before, instead of a whole dataset. */
  revision?: Revision
  /** Publish the valid rows and report the others, instead of rejecting the source. */
  skipInvalid?: boolean
  /** Whether to write a sample; true by default. */
  sample?: boolean
  /** False: no vector tiles are built for the snapshot. */
  tiles?: boolean
  limits?: CompileLimits
  /** How many of the rows that cannot be published are listed; 10 by default. */
  maxProblems?: number
  /** How to run GDAL for formats without a reader of our own. */
  gdal?: GdalOptions
  /** The folder for the snapshot's files; created if it does not exist. */
  folder: string
  /**
   * A folder in which staged rows are kept until the compilation succeeds, so that another attempt of the same
   * program goes on after reading. Without it, every attempt begins with the first row. `source` is the state of the
   * source, if it is read from a copy.
   */
  resume?: { folder: string; version: string; minRows?: number; source?: string }
  /**
   * The rows were staged in parts, by several processes: the files of the plan and of all parts in their order, and how
   * long that took. The source is not read again.
   */
  staged?: { plan: string; parts: string[]; readingMs: number }
  /** How much memory compiling may use, in megabytes; by default half of the machine's. */
  memoryMegabytes?: number
  threads?: number
}

export type CompilePhase = 'reading' | 'sorting' | 'indexing'

export interface CompileProgress {
  phase: CompilePhase
  rows: number
  bytesRead: number
  totalBytes: number | null
  /** While the features are written and indexed: how many of the rows are. */
  indexedRows?: number
  /** While several workers read the source: how many of its parts are read. */
  parts?: { done: number; total: number }
  /** How much of all work is done, from 0 to 1, and how long the rest takes; null while that is not known. */
  fraction?: number | null
  remainingSeconds?: number | null
}

/** The report for the publisher. */
export interface CompileReport {
  rows: number
  /** The number of rows that were skipped; `problems` has the first reasons. */
  skipped: number
  problems: RowProblem[]
  geometryTypes: Manifest['geometryTypes']
  bbox: Manifest['bbox']
  timeColumn: Manifest['timeColumn']
  timeExtent: [string, string] | null
  crs: string | null
  /** The datum transformation to WGS84 with its accuracy in metres; null if the CRS is already WGS84. */
  crsTransformation: CrsTransformation | null
  columns: Manifest['columns']
  notes: string[]
  /** What an append or an update has changed. */
  changes?: RevisionCounts
}

/** A value of the source, and the number of its row. */
export interface SourceValue {
  row: number
  value: string
}

/** A column of an inspected source, as it would be published. */
export interface InspectedColumn {
  name: string
  /** Its name in the source. */
  source: string
  type: ColumnType
  /** How its texts write numbers or dates, if not as in JSON. */
  format: ColumnFormat | null
  nullable: boolean
  /** The number of rows without a value. */
  empty: number
  isHidden: boolean
  /** The type that most of its values have, if others made it text, and how many values disagree. */
  likely: {
    type: ColumnType
    format: ColumnFormat | null
    disagreeing: number
    examples: SourceValue[]
  } | null
}

/** What a source contains, and what publishing it would do. */
export interface Inspection {
  file: string
  format: string
  bytes: number
  rows: number
  /** The number of rows that cannot be published; `problems` has the first of them. */
  problemCount: number
  problems: RowProblem[]
  geometryType: Manifest['geometryType']
  geometryTypes: Manifest['geometryTypes']
  bbox: Manifest['bbox']
  /** The number of rows without a place on the map; 0 if none has one, as in a table. */
  unlocated: number
  /** Points on some of the geometries, spread over the source, for a small map. */
  places: [number, number][]
  crs: string | null
  crsTransformation: CrsTransformation | null
  timeColumn: string | null
  columns: InspectedColumn[]
  /** The first rows: the texts of the published values in the order of `columns`, and the type of the geometry. */
  preview: { row: number; values: (string | null)[]; geometry: string | null }[]
  /** What does not fit the columns that the publisher fixed. */
  misfits: string[]
  notes: string[]
}

export interface Compiled {
  manifest: Manifest
  report: CompileReport
}
