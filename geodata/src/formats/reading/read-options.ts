import type { ColumnType } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'

/** A choice of columns with a part to play. */
export type ColumnRole = 'idColumn' | 'timeColumn' | 'coordinates'

/** Choices that are left out and reported if the file has no such column, because they were not made for this file. */
export interface Ignorable {
  ignorable?: readonly ColumnRole[]
}

/** The publisher's choice of the columns that hold the coordinates of a table. */
export interface CoordinateChoice extends Ignorable {
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
  const { longitude, latitude, geometryColumn, geometry, ignorable, encoding, header, types } = options
  const { skipLines, headerLines } = options
  const coordinates = { longitude, latitude, geometryColumn, geometry, ignorable }
  return { ...coordinates, encoding, header, skipLines, headerLines, types }
}

/** What was chosen for a role; null, with a note of why, if it does not fit the file and is ignorable. */
export function ifItFits<T>(
  role: ColumnRole,
  { ignorable = [] }: Ignorable,
  notes: string[],
  choose: () => T,
): T | null {
  try {
    return choose()
  } catch (error) {
    if (!(error instanceof SourceError) || !ignorable.includes(role)) throw error
    notes.push(error.message)
    return null
  }
}
