import type { ColumnType, Geometry, Value } from '../../feature.ts'
import type { UntrustedDatabase } from './untrusted-database.ts'

export type SqliteValue = null | bigint | number | string | Uint8Array

/** A table or view of the file, and what the file says about its geometry. */
export interface SqliteLayer {
  name: string
  geometryColumn: string | null
  /** The column with the ids, if it is not the primary key. */
  idColumn?: string
  /** Reads a value of the geometry column that is not null; throws a SourceError that says what is wrong. */
  readGeometry(value: Exclude<SqliteValue, null>): Geometry
  crs(): string | null
}

export interface SqliteColumn {
  name: string
  /** In upper case; empty if the column has no type. */
  declared: string
}

export type DeclaredType = ColumnType | 'infer-json'

/** How much a reader may make of the values in the file. */
export interface ExpansionBound {
  maxValueBytes: number
  /** Counts bytes; throws when they are more than the limit. */
  add(bytes: number): void
}

/** What distinguishes the formats that are SQLite databases: which tables are layers, and how values are stored. */
export interface SqliteDialect {
  /** The layers in their order. */
  layers(database: UntrustedDatabase): SqliteLayer[]
  /** A table that is not listed as a layer, but can be chosen by its name. */
  unlistedLayer?(database: UntrustedDatabase, name: string): SqliteLayer | null
  /** Whether tables without a primary key have ids too: the row ids or, without these, row numbers from 0. */
  numbersRows: boolean
  typeOf(column: SqliteColumn, table: string, database: UntrustedDatabase): DeclaredType
  /** Converts the values of a column that are stored in a way of their own; null for all others. */
  converter(column: SqliteColumn, bound: ExpansionBound): ((value: SqliteValue) => Value) | null
}

/** A value as it is published, if nothing is known about its column. */
export function toValue(value: SqliteValue): Value {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  // JSON and CSV cannot represent bytes, so they are encoded as base64, which clients expect.
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value
}
