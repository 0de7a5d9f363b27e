/**
 * The data model that all formats are read into and written from.
 *
 * A reader turns a file into a `FeatureStream`, the compiler turns that into a snapshot, and a writer turns a
 * snapshot back into a file. Nothing else passes between them.
 */

/** A GeoJSON position: longitude (or x), latitude (or y) and, if the source has one, a height. Never M. */
export type Position = number[]

/**
 * Geometries in the shape of GeoJSON. An empty geometry has no coordinates (`POINT EMPTY` is a Point whose
 * `coordinates` is `[]`); a missing geometry is `null`.
 */
export type Geometry = Shape & { converted?: Conversion }

/** What a reader did to a geometry whose type GeoJSON cannot represent, for the publisher's report. */
export type Conversion = 'curves' | 'surfaces'

type Shape =
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint'; coordinates: Position[] }
  | { type: 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString'; coordinates: Position[][] }
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'GeometryCollection'; geometries: Geometry[] }

export type GeometryType = Geometry['type']

/** All types in the order of their WKB codes, which start at 1. */
export const GEOMETRY_TYPES: readonly GeometryType[] = [
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]

/**
 * The type of a published column.
 *
 * `integer` is exact up to 38 digits: values beyond 2^53 are `bigint` in our code and JSON numbers in responses.
 * `date` is `YYYY-MM-DD`; `timestamp` is ISO 8601 in UTC with a trailing `Z`; `json` is a nested value.
 */
export type ColumnType = 'boolean' | 'integer' | 'number' | 'text' | 'date' | 'timestamp' | 'json'

export interface Column {
  name: string
  type: ColumnType
  nullable: boolean
}

/**
 * A value as a reader returns it. Dates and timestamps are ISO 8601 strings (a timestamp may still have a
 * zone offset; the compiler converts it to UTC). Nested values are as `JSON.parse` returns them, except that
 * integers beyond 2^53 are `bigint`.
 */
export type Value = null | boolean | number | bigint | string | Value[] | { [name: string]: Value }

/**
 * A column as the source declares it.
 *
 * - a `ColumnType`: the format declares the type itself (GeoPackage, Parquet, FlatGeobuf, dBase).
 * - `infer-json`: the values have JSON types; only columns whose strings are all dates or all timestamps are
 *   narrowed.
 * - `infer-text`: every value is a string (CSV, KML); the type is inferred from all rows. Digits with a
 *   leading zero are text, and one text value makes the whole column text.
 */
export interface SourceColumn {
  name: string
  type: ColumnType | 'infer-json' | 'infer-text'
  /** Its number in the file, from 1, if the file may have other columns that became the geometry. */
  number?: number
}

export interface Feature {
  /** The id in the source (GeoJSON `id`, GeoPackage fid), or null if there is none. */
  id: string | number | bigint | null
  /** Set if the source has an id that is neither a text nor a number; `id` is then null. */
  hasUnusableId?: true
  /**
   * Aligned with `FeatureStream.columns`. The stream may discover columns while it is read: `columns` is
   * appended to, and a row that is shorter than `columns` has null for the missing values.
   */
  values: Value[]
  geometry: Geometry | null
  /** The row number in the source, starting at 1, for problem reports. */
  row: number
}

/** A row that could not be read. It counts as invalid and has the reason. */
export interface UnreadableRow {
  row: number
  problem: string
}

export interface FeatureStream {
  /** Grows while the stream is read if the format does not declare its columns up front. */
  readonly columns: SourceColumn[]
  /** False for a table without geometry. Only known once the stream has ended. */
  readonly spatial: boolean
  /**
   * The source's CRS as stated in the file: `EPSG:25832`, a WKT or PROJ string; null if the file does not
   * state one and its format does not imply one (a shapefile without `.prj`). GeoJSON and KML are
   * `OGC:CRS84`. Coordinates in `geometry` are as in the file, x (or longitude) first; the compiler
   * transforms them.
   */
  readonly crs: string | null
  /** The number of source bytes read so far, for a progress bar; `totalBytes` may be unknown. */
  readonly bytesRead: number
  readonly totalBytes: number | null
  /** Sentences for the publisher's report, such as "column longitude was renamed longitude_1". */
  readonly notes: string[]
  /** Batches of a few thousand rows, so that there is one event loop turn per batch and not per row. */
  batches(): AsyncIterable<(Feature | UnreadableRow)[]>
}

export function isUnreadable(row: Feature | UnreadableRow): row is UnreadableRow {
  return 'problem' in row
}
