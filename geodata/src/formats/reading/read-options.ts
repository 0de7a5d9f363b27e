import type { ColumnType } from '../../feature.ts'

/** The publisher's choice of the columns that hold the coordinates of a table. */
export interface CoordinateChoice {
  /** The names of the columns with longitudes (or x) and latitudes (or y); given together. */
  longitude?: string
  latitude?: string
  /** The name of the column with WKT, WKB, GeoJSON or points as text. */
  geometryColumn?: string
  /** False: publish a table without geometry, whatever the file holds. */
  geometry?: boolean
}

/** What the publisher says about a file instead of leaving it to detection. */
export interface ReadOptions extends CoordinateChoice {
  /** The encoding of the texts, such as `windows-1251`. */
  encoding?: string
  /** Whether the first row of a table has the column names. */
  header?: boolean
  /** How many lines above the table are left out; empty ones do not count. */
  skipLines?: number
  /** How many lines the column names take; their texts are joined. */
  headerLines?: number
  /** The types of columns, by the names in the source. */
  types?: { [column: string]: ColumnType }
}

/** The same options without the members that are not about reading, to be passed on. */
export function readOptionsOf(options: ReadOptions): ReadOptions {
  const { longitude, latitude, geometryColumn, geometry, encoding, header, types } = options
  const { skipLines, headerLines } = options
  return { longitude, latitude, geometryColumn, geometry, encoding, header, skipLines, headerLines, types }
}
