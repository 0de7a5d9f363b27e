/**
 * What every format is read to and written from.
 *
 * A reader turns a file into a `FeatureStream`; the compiler turns that into a snapshot; a writer turns a
 * snapshot back into a file. Nothing else passes between them.
 */

/** A GeoJSON position: longitude (or x), latitude (or y) and, where the source has one, a height. Never M. */
export type Position = number[]

/**
 * Geometries have GeoJSON's shape. An empty geometry is one with no coordinates (`POINT EMPTY` is a Point
 * whose `coordinates` is `[]`); a missing one is `null`.
 */
export type Geometry =
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint'; coordinates: Position[] }
  | { type: 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString'; coordinates: Position[][] }
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'GeometryCollection'; geometries: Geometry[] }

export type GeometryType = Geometry['type']

/** All types, in the order of their WKB codes, which begin at 1. */
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
 * `integer` is exact at any size: values beyond 2^53 are `bigint` in our code and JSON numbers in answers.
 * `date` is `YYYY-MM-DD`; `timestamp` is ISO 8601 in UTC with a trailing `Z`; `json` is a nested value.
 */
export type ColumnType = 'boolean' | 'integer' | 'number' | 'text' | 'date' | 'timestamp' | 'json'

export interface Column {
  name: string
  type: ColumnType
  nullable: boolean
}

/**
 * A value as a reader gives it. Dates and timestamps are ISO 8601 strings (a timestamp may still carry a
 * zone offset: the compiler brings it to UTC). Nested values are what `JSON.parse` makes of them, with
 * integers beyond 2^53 as `bigint`.
 */
export type Value = null | boolean | number | bigint | string | Value[] | { [name: string]: Value }

/**
 * A column as the source declares it.
 *
 * - a `ColumnType`: the format itself says so (GeoPackage, Parquet, FlatGeobuf, dBase).
 * - `infer-json`: the values carry JSON's types; only strings that are all dates or timestamps are narrowed.
 * - `infer-text`: every value is a string (CSV, KML); all rows together decide. Digits with a leading zero
 *   are text, and so is a column in which any value is.
 */
export interface SourceColumn {
  name: string
  type: ColumnType | 'infer-json' | 'infer-text'
}

export interface Feature {
  /** The source's own id (GeoJSON `id`, GeoPackage fid), or null where it has none. */
  id: string | number | bigint | null
  /**
   * Aligned with `FeatureStream.columns`. The stream may discover columns as it goes: `columns` grows at its
   * end, and a row that is shorter than `columns` has nulls in the places it lacks.
   */
  values: Value[]
  geometry: Geometry | null
  /** Where the feature stands in its source, from 1: what a problem report names. */
  row: number
}

/** A row that could not be read at all: it counts as invalid and carries the reason. */
export interface UnreadableRow {
  row: number
  problem: string
}

export interface FeatureStream {
  /** Grows while the stream is read where the format does not declare its columns first. */
  readonly columns: SourceColumn[]
  /** False for a table without geometry. Known once the stream has ended. */
  readonly spatial: boolean
  /**
   * The source's CRS as the file states it: `EPSG:25832`, a WKT or PROJ string; null where the file says
   * nothing and its format implies nothing (a shapefile without `.prj`). GeoJSON and KML are `OGC:CRS84`.
   * Coordinates in `geometry` are as in the file, x (or longitude) first; the compiler transforms them.
   */
  readonly crs: string | null
  /** How many bytes of the source have been read, for a progress bar; `totalBytes` may be unknown. */
  readonly bytesRead: number
  readonly totalBytes: number | null
  /** Sentences for the publisher's report, such as "column longitude was renamed longitude_1". */
  readonly notes: string[]
  /** Batches of a few thousand rows, so that a batch costs one turn of the event loop, not a row. */
  batches(): AsyncIterable<(Feature | UnreadableRow)[]>
}

export function isUnreadable(row: Feature | UnreadableRow): row is UnreadableRow {
  return 'problem' in row
}
