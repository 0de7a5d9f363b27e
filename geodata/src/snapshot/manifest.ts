import type { ColumnFormat } from '@wayleave/contract/column-formats'
import type { CrsTransformation } from '../crs/crs-accuracy.ts'
import type { Column, GeometryType } from '../feature.ts'
import type { Bbox } from '../geometry/bbox.ts'
import { PACK_FILE } from '../pack/pack.ts'
import type { ColumnStatistics } from './column-statistics.ts'

/**
 * The file names of a snapshot, which is a folder of immutable files.
 *
 * - `rows.parquet`: GeoParquet, one row per feature in snapshot order: the ids if they are a column, the
 *   columns, then `geometry` if spatial. A feature's position is its row number in the file.
 * - `rows.columns`: columns that can be searched without a database, see columns/column-file.ts. Missing in
 *   snapshots that were compiled before it existed, and in some of more than 20 million rows.
 * - `points.parquet`: `longitude`, `latitude` in the same order: a point on the surface of each geometry, null
 *   for features without a location. Only if there are other geometries than points, whose own coordinates
 *   are in the pack; snapshots of points that were compiled earlier also have it, and nothing reads it.
 * - `ids.parquet`: only if ids are row numbers: the column `id`, in the same order.
 * - `features.pack`: see pack.ts. `features.index`: see index-file.ts.
 * - `sample.json`: the sample, a bare array of rows in the shape of the json export.
 * - `checksums.json`: see block-checksums.ts.
 *
 * Snapshot order: features with a location in Hilbert order (ties in source order), then those without one in
 * source order. A table without geometry keeps the order of its source.
 */
export const SNAPSHOT_FILES = {
  manifest: 'manifest.json',
  rows: 'rows.parquet',
  columns: 'rows.columns',
  points: 'points.parquet',
  ids: 'ids.parquet',
  pack: PACK_FILE,
  index: 'features.index',
  sample: 'sample.json',
  checksums: 'checksums.json',
} as const

/** Whether a snapshot of this geometry type gets `points.parquet`. */
export function hasPointsFile(geometryType: Manifest['geometryType']): boolean {
  return geometryType !== null && geometryType !== 'Point'
}

/**
 * Increased when readers stop trusting something in files, so that snapshots of such files can be found later. 1:
 * nothing in a file is executed, and no other file that it names is opened.
 */
export const READER_GENERATION = 1

/** Increased when an older program would misread new snapshots. Adding files does not increase it. */
export const FORMAT_VERSION = 1

export interface Manifest {
  formatVersion: typeof FORMAT_VERSION
  rows: number
  /** The number of features that have a location. They are the first `located` features of the snapshot. */
  located: number
  columns: Column[]
  /** `Geometry` if types are mixed or a spatial source has no geometry at all; null for a table. */
  geometryType: GeometryType | 'Geometry' | null
  /** The types that occur, in GeoJSON's order. */
  geometryTypes: GeometryType[]
  hasZ: boolean
  bbox: Bbox | null
  /**
   * `column` is the column whose values are the ids: the publisher's id column, or a column `id` with the same
   * values as the ids; null if there is none. `name` is the name of the ids in filters, unless a column `id` has
   * the same values. If ids are more than row numbers, it is also the name of their column in `rows.parquet` and
   * in all exports. Snapshots that were compiled before ids were exported have neither `name` nor
   * `isRowNumber`. See feature-ids.ts.
   */
  id: { column: string | null; type: 'integer' | 'text'; name?: string; isRowNumber?: boolean }
  /** The column that `datetime` filters: the publisher's choice, else the first date or timestamp column. */
  timeColumn: string | null
  /**
   * The earliest and the latest value of `timeColumn`, formatted as in features; null if there are no values.
   * Missing in snapshots that were compiled before this field existed.
   */
  timeExtent?: [string, string] | null
  source: {
    file: string
    format: string
    crs: string | null
    /** The datum transformation to WGS84. Missing in snapshots that were compiled before it was recorded. */
    crsTransformation?: CrsTransformation | null
    bytes: number
    /** How texts wrote the numbers and dates of these columns; absent if none was recognised. */
    formats?: { [column: string]: ColumnFormat }
    /** `READER_GENERATION` of the program that read the file. Missing in snapshots compiled before it existed. */
    reader?: number
  }
  notes: string[]
  /** Whether vector tiles are to be built. Missing in snapshots that were compiled before there were tiles. */
  tiles?: boolean
  /** By column. Missing in snapshots that were compiled before they existed, and in some of more than 20 million rows. */
  statistics?: { [column: string]: ColumnStatistics }
  /** Every other file in the folder, except for exports and tiles, which are made later. */
  files: { [name: string]: { bytes: number; sha256: string } }
}
