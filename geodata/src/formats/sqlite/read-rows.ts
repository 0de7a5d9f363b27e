import type { Feature, SourceColumn, UnreadableRow, Value } from '../../feature.ts'
import { writeWkt } from '../../geometry/wkt.ts'
import { quoteName } from '../../quote-sql.ts'
import { SourceError } from '../../source-error.ts'
import { parseJson } from '../reading/parse-json.ts'
import { expandsBeyond, largerThan, maxValueBytes, type SourceLimits } from '../reading/source-limits.ts'
import { invalidText } from '../reading/text/invalid-text.ts'
import {
  type ExpansionBound,
  type SqliteColumn,
  type SqliteDialect,
  type SqliteLayer,
  type SqliteValue,
  toValue,
} from './sqlite-dialect.ts'
import { TextCheck } from './text-check.ts'
import type { UntrustedDatabase } from './untrusted-database.ts'

const BATCH_ROWS = 2000
/** A batch of large rows ends earlier. */
const BATCH_BYTES = 1 << 24

export interface TableColumn extends SqliteColumn {
  isKey: boolean
  isMainGeometry: boolean
}

export interface ReadTable {
  layer: SqliteLayer
  /** The columns other than the key and the geometry, and how they are published. */
  columns: SqliteColumn[]
  published: SourceColumn[]
  /** The expression of the ids. */
  idSql: string
  /** The size of the file in bytes. */
  size: number
  limits: SourceLimits
  /** The bytes of the rows that were read. */
  bytes: number
}

const GEOMETRY_TYPE =
  /^(MULTI)?(GEOMETRY|POINT|LINESTRING|POLYGON|CURVE|SURFACE)|^GEOM|^CIRCULARSTRING|^COMPOUNDCURVE/

export function isGeometry({ declared }: SqliteColumn): boolean {
  return GEOMETRY_TYPE.test(declared)
}

export function* readRows(
  database: UntrustedDatabase,
  dialect: SqliteDialect,
  table: ReadTable,
): Generator<(Feature | UnreadableRow)[]> {
  const { layer, published, limits, size } = table
  // A view or a generated column can make any amount of data of a small file, like a compressed file.
  const maxBytes = maxValueBytes(size, limits)
  const selected = [
    table.idSql,
    layer.geometryColumn === null ? 'NULL' : quoteName(layer.geometryColumn),
    ...published.map(({ name }) => quoteName(name)),
  ]
  const statement = database.prepare(`SELECT ${selected.join(', ')} FROM ${quoteName(layer.name)}`)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  const bound: ExpansionBound = {
    maxValueBytes: limits.rowBytes,
    add(bytes) {
      table.bytes += bytes
      if (table.bytes > maxBytes) throw new SourceError(expandsBeyond(database.file, maxBytes, size))
    },
  }
  const converters = table.columns.map((column, i) =>
    converterOf(column, published[i]!, layer, dialect, bound),
  )
  const texts = new TextCheck(database, layer.name, selected)
  let batch: (Feature | UnreadableRow)[] = []
  let row = 0
  let yieldedBytes = 0
  for (const record of statement.iterate() as unknown as Iterable<SqliteValue[]>) {
    row++
    const rowBytes = bytesOf(record)
    if (rowBytes > limits.rowBytes)
      throw new SourceError(`${database.file}: row ${row} is ${largerThan(limits.rowBytes)}.`)
    bound.add(rowBytes)
    const geometry = readGeometry(layer, record[1]!)
    const invalid = texts.invalidColumn(record, row)
    if (typeof geometry === 'string') batch.push({ row, problem: geometry })
    else if (invalid)
      batch.push({ row, problem: invalidText(published[invalid.index - 2]!.name, invalid.encoding) })
    else {
      const values: Value[] = new Array(published.length)
      for (let i = 0; i < values.length; i++) values[i] = converters[i]!(record[i + 2]!)
      const id = record[0] === null && dialect.numbersRows ? row - 1 : toValue(record[0]!)
      batch.push({ id: id as number | bigint | null, values, geometry, row })
    }
    if (batch.length === BATCH_ROWS || table.bytes - yieldedBytes >= BATCH_BYTES) {
      yield batch
      batch = []
      yieldedBytes = table.bytes
    }
  }
  if (batch.length > 0) yield batch
}

function converterOf(
  column: SqliteColumn,
  { type }: SourceColumn,
  layer: SqliteLayer,
  dialect: SqliteDialect,
  bound: ExpansionBound,
): (value: SqliteValue) => Value {
  if (isGeometry(column)) return (value) => toWkt(layer, value)
  const own = dialect.converter(column, bound)
  if (own !== null) return own
  return type === 'boolean' ? toBoolean : type === 'json' ? toJson : toValue
}

/** The size of a row's values, roughly as SQLite stores them. */
function bytesOf(record: SqliteValue[]): number {
  let bytes = 0
  for (const value of record) {
    bytes += typeof value === 'string' || value instanceof Uint8Array ? value.length : 8
  }
  return bytes
}

function readGeometry(layer: SqliteLayer, value: SqliteValue): Feature['geometry'] | string {
  if (value === null) return null
  try {
    return layer.readGeometry(value)
  } catch (error) {
    if (error instanceof SourceError) return error.message
    throw error
  }
}

/** Bytes that are not a geometry stay bytes. */
function toWkt(layer: SqliteLayer, value: SqliteValue): Value {
  const geometry = readGeometry(layer, value)
  return geometry === null || typeof geometry === 'string' ? toValue(value) : writeWkt(geometry)
}

function toBoolean(value: SqliteValue): Value {
  return value === 0n ? false : value === 1n ? true : toValue(value)
}

function toJson(value: SqliteValue): Value {
  if (typeof value !== 'string') return toValue(value)
  try {
    return parseJson(value)
  } catch {
    return value
  }
}
