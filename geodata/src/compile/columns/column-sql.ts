import type { ColumnType } from '../../feature.ts'
import { quoteName } from '../../quote-sql.ts'
import type { ColumnProfile, StagedAs } from '../stage/staged-column.ts'
import { notationSql } from '../values/notation.ts'
import { KIND } from '../values/value-kinds.ts'

/** SQL for a column's final values, and for their JSON text, from the forms in which they were staged. */

const SQL_TYPE: { [type in ColumnType]: string } = {
  boolean: 'BOOLEAN',
  integer: 'BIGINT',
  number: 'DOUBLE',
  text: 'VARCHAR',
  date: 'DATE',
  timestamp: 'TIMESTAMPTZ',
  json: 'JSON',
}

function sqlType(type: ColumnType, kinds: number): string {
  return type === 'integer' && kinds & KIND.wideInteger ? 'DECIMAL(38,0)' : SQL_TYPE[type]
}

/** The typed value of a staged column. It never fails: `columnType` returns a type that fits all values. */
export function columnSql(profile: ColumnProfile, type: ColumnType): string {
  const target = sqlType(type, profile.kinds)
  const parts = profile.stagedAs.map((as) => fromStaged(profile, as, type, target))
  if (parts.length === 0) return `NULL::${target}`
  const value = parts.length === 1 ? parts[0]! : `coalesce(${parts.join(', ')})`
  return type === 'number' ? withoutNegativeZero(value) : value
}

/** Parquet's filters of values take -0.0 for another value than 0.0, so that a query for one misses the other. */
function withoutNegativeZero(value: string): string {
  return `CASE WHEN (${value}) = 0 THEN 0.0 ELSE (${value}) END`
}

function fromStaged(profile: ColumnProfile, as: StagedAs, type: ColumnType, target: string): string {
  const value = quoteName(`${profile.staged}:${as}`)
  if (type === 'text' || type === 'json') {
    const text = type === 'text' ? textOf(value, as) : jsonOf(value, as)
    return type === 'text' ? text : `(${text})::JSON`
  }
  if (profile.notation) return notationSql(textOf(value, as), profile.notation, target)
  if (as !== 'text') return `${value}::${target}`
  // In a source of strings, an empty string in a column of numbers or dates is a missing value.
  const nonEmpty = profile.declared === 'infer-text' ? `nullif(${value}, '')` : value
  return `${type === 'timestamp' ? withSeconds(nonEmpty) : nonEmpty}::${target}`
}

/** The source's text of each value of a column. */
export function textSql(profile: ColumnProfile): string {
  return columnSql({ ...profile, notation: undefined }, 'text')
}

function textOf(value: string, as: StagedAs): string {
  if (as === 'text') return value
  if (as === 'number') return numberText(value)
  if (as === 'json') return `CASE WHEN ${value}[1] = '"' THEN ${value}->>'$' ELSE ${value} END`
  return `${value}::VARCHAR`
}

function jsonOf(value: string, as: StagedAs): string {
  if (as === 'json') return value
  if (as === 'text') return `to_json(${value})::VARCHAR`
  return as === 'number' ? numberText(value) : `${value}::VARCHAR`
}

/** Adds seconds if they are missing, because DuckDB requires them before a zone offset. */
function withSeconds(value: string): string {
  return `CASE WHEN length(${value}) > 16 AND ${value}[17] <> ':' THEN ${value}[:16] || ':00' || ${value}[17:] ELSE ${value} END`
}

/** The text of a number used as text or as an id: whole numbers without the `.0` that DuckDB would write. */
export function numberText(value: string): string {
  return `CASE WHEN ${value} = trunc(${value}) AND abs(${value}) < 1e15 THEN ${value}::BIGINT::VARCHAR ELSE ${value}::VARCHAR END`
}

/** The JSON text of a typed value; the caller handles SQL NULL. */
export function jsonTextSql(value: string, type: ColumnType): string {
  switch (type) {
    case 'boolean':
    case 'integer':
    case 'json':
      return `${value}::VARCHAR`
    // Whole numbers keep their `.0`: GDAL and QGIS guess a column's type from the first ten features, and
    // truncate all later fractions of a column that they took for integers.
    case 'number':
      return `CASE WHEN ${value} = 0 THEN '0.0' ELSE ${value}::VARCHAR END`
    case 'text':
      return `to_json(${value})::VARCHAR`
    case 'date':
      return `'"' || ${value}::VARCHAR || '"'`
    case 'timestamp':
      return `'"' || replace(${value}::TIMESTAMP::VARCHAR, ' ', 'T') || 'Z"'`
  }
}
