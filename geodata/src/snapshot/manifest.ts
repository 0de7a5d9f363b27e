import type { CrsTransformation } from '../crs/crs-accuracy.ts'
import type { Column, GeometryType } from '../feature.ts'
import type { Bbox } from '../geometry/bbox.ts'

/**
 * A snapshot is a folder of immutable files; these are their names.
 *
 * - `rows.parquet`: GeoParquet, one row a feature in snapshot order: the columns, then `geometry` where spatial.
 *   A feature's position is its row's number in the file.
 * - `points.parquet`: only where spatial: `longitude`, `latitude` in the same order (a point's own coordinates,
 *   for other shapes a point on the shape, null without a place).
 * - `features.pack`: see pack.ts. `features.index`: see index-file.ts.
 * - `sample.json`: the sample, a bare array of rows shaped like the json export.
 * - `checksums.json`: see block-checksums.ts.
 *
 * Snapshot order: features with a place in Hilbert order (ties in source order), then those without one in
 * source order. A table without geometry keeps its source's order.
 */
export const SNAPSHOT_FILES = {
  manifest: 'manifest.json',
  rows: 'rows.parquet',
  points: 'points.parquet',
  pack: 'features.pack',
  index: 'features.index',
  sample: 'sample.json',
  checksums: 'checksums.json',
} as const

/** Raised when snapshots change so that an older program would read them wrongly; files may be added without it. */
export const FORMAT_VERSION = 1

export interface Manifest {
  formatVersion: typeof FORMAT_VERSION
  rows: number
  /** How many features have a place: they are the first `located` of the snapshot. */
  located: number
  columns: Column[]
  /** `Geometry` where types are mixed or none occurs in a spatial source; null for a table. */
  geometryType: GeometryType | 'Geometry' | null
  /** The types that occur, in GeoJSON's order. */
  geometryTypes: GeometryType[]
  hasZ: boolean
  bbox: Bbox | null
  /** `column` is the publisher's id column, or null where ids come from the source or are row numbers. */
  id: { column: string | null; type: 'integer' | 'text' }
  /** What `datetime` filters: the publisher's choice, else the first date or timestamp column. */
  timeColumn: string | null
  /**
   * The earliest and the latest value of `timeColumn`, written as in features; null without any. Snapshots that
   * were compiled before it was known do not tell.
   */
  timeExtent?: [string, string] | null
  source: {
    file: string
    format: string
    crs: string | null
    /** The datum transformation to WGS84. Snapshots that were compiled before it was recorded have none. */
    crsTransformation?: CrsTransformation | null
    bytes: number
  }
  notes: string[]
  /** Every other file of the folder. */
  files: { [name: string]: { bytes: number; sha256: string } }
}
