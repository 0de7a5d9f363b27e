import { DuckDBBlobValue } from '@duckdb/node-api'
import type { SourceColumn, Value } from '../../feature.ts'
import { EXACT_DIGITS, wideDecimalsNote } from '../reading/exact-decimals.ts'
import { parseJson } from '../reading/parse-json.ts'
import type { DescribedColumn } from './described-column.ts'
import type { ExactReading } from './exact-reading.ts'

/** The SQL of one column and the conversion of its values. */
export interface ParquetColumn extends SourceColumn {
  sql: string
  /** The SQL of the bytes that a value takes; absent for values of a fixed size. */
  size?: string
  convert(value: unknown): Value
  note?: string
  /** If its values are read by `ExactColumns` and not by the database. */
  exact?: ExactReading
}

export function parquetColumn({ name, id, type }: DescribedColumn): ParquetColumn {
  if (/(\[\d*\]|^STRUCT\(|^MAP\(|^UNION\(|^JSON$|^VARIANT$)/.test(type) && !/^ENUM\(/.test(type))
    return {
      name,
      type: 'json',
      sql: `CAST(to_json(${id}) AS VARCHAR)`,
      size: `strlen(CAST(to_json(${id}) AS VARCHAR))`,
      convert: toJson,
    }
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(type)
  if (decimal) return decimalColumn(name, id, Number(decimal[1]), Number(decimal[2]))
  if (/^GEOMETRY/.test(type))
    return {
      name,
      type: 'text',
      sql: `ST_AsText(${id})`,
      size: `octet_length(ST_AsWKB(${id}))`,
      convert: same,
    }
  switch (type) {
    case 'BOOLEAN':
      return { name, type: 'boolean', sql: id, convert: same }
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
    case 'UTINYINT':
    case 'USMALLINT':
    case 'UINTEGER':
      return { name, type: 'integer', sql: id, convert: same }
    case 'BIGINT':
    case 'UBIGINT':
    case 'HUGEINT':
    case 'UHUGEINT':
      return { name, type: 'integer', sql: id, convert: toInteger }
    case 'FLOAT':
    case 'DOUBLE':
      return { name, type: 'number', sql: id, convert: same }
    case 'DATE':
      return { name, type: 'date', sql: asText(id), convert: same }
    case 'TIMESTAMP':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
    case 'TIMESTAMP_NS':
    case 'TIMESTAMP WITH TIME ZONE':
      return { name, type: 'timestamp', sql: asText(id), convert: same }
    case 'BLOB':
      return { name, type: 'text', sql: `base64(${id})`, size: `octet_length(${id})`, convert: same }
    case 'VARCHAR':
      // The database's library removes a byte order mark at the start of a text, so such a text gets a second one.
      return {
        name,
        type: 'text',
        sql: `CASE WHEN starts_with(${id}, chr(65279)) THEN chr(65279) || ${id} ELSE ${id} END`,
        size: `strlen(${id})`,
        convert: same,
      }
    default:
      return { name, type: 'text', sql: asText(id), convert: same }
  }
}

function decimalColumn(name: string, id: string, digits: number, scale: number): ParquetColumn {
  if (scale === 0) return { name, type: 'integer', sql: `CAST(${id} AS HUGEINT)`, convert: toInteger }
  if (digits <= EXACT_DIGITS) return { name, type: 'number', sql: `CAST(${id} AS DOUBLE)`, convert: same }
  return { name, type: 'text', sql: asText(id), convert: same, note: wideDecimalsNote(name, digits) }
}

function asText(id: string): string {
  return `CAST(${id} AS VARCHAR)`
}

function same(value: unknown): Value {
  return value as Value
}

function toInteger(value: unknown): Value {
  if (typeof value !== 'bigint') return value as Value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function toJson(value: unknown): Value {
  if (typeof value !== 'string') return null
  try {
    return parseJson(value)
  } catch {
    // NaN and infinity are not valid JSON, so values that contain them stay text.
    return value
  }
}

export function bytesOf(value: unknown): Uint8Array | null {
  return value instanceof DuckDBBlobValue ? value.bytes : null
}
