import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column } from '../feature.ts'
import { quoteName } from '../quote-sql.ts'
import { addDoubles, addIntegers, type Keys, type Ranked, rankValues } from './rank-values.ts'

/** Reads columns of rows.parquet with DuckDB and ranks their values. */

/** Texts, and integers of more than 64 bits, are compiled if there are at most this many distinct ones. */
export const MAX_DISTINCT_TEXTS = 65_536
/** The max size of all distinct texts of a column, in bytes: they become JavaScript strings. */
const MAX_TEXT_BYTES = 8 << 20

export interface RowsTable {
  connection: DuckDBConnection
  /** The rows in SQL, such as `read_parquet('…')`. */
  from: string
  rows: number
}

/** The SQL of a 64-bit integer that has the order of the column's values. */
function integerSql({ name, type }: Column): string {
  const column = quoteName(name)
  if (type === 'timestamp') return `epoch_us(${column})`
  if (type === 'date') return `date_diff('day', DATE '1970-01-01', ${column})`
  return `${column}::BIGINT`
}

/**
 * Ranks a column of integers of up to 64 bits, dates, timestamps, booleans or numbers. `keys` has room for all rows;
 * what it has is overwritten.
 */
export async function rankFixedColumn(table: RowsTable, column: Column, keys: Keys): Promise<Ranked | null> {
  const isDouble = column.type === 'number'
  const value = isDouble ? quoteName(column.name) : integerSql(column)
  const isNull = column.nullable ? new Uint8Array(table.rows) : null
  const nulls = isNull ? `, (${quoteName(column.name)} IS NULL)::UTINYINT` : ''
  let row = 0
  let areFinite = true
  await eachChunk(
    table,
    `SELECT coalesce(${value}, 0)::${isDouble ? 'DOUBLE' : 'BIGINT'}${nulls} FROM ${table.from}`,
    ([values, flags]) => {
      const words = new Uint32Array(values!.buffer, values!.byteOffset, values!.length * 2)
      if (isDouble) areFinite = addDoubles(keys, row, words) && areFinite
      else addIntegers(keys, row, words)
      if (isNull) isNull.set(flags as Uint8Array, row)
      row += values!.length
    },
  )
  if (row !== table.rows) throw new Error(`the rows have ${row} values of ${column.name}`)
  // Such values are not published; a column that has them is left to the database.
  return areFinite ? rankValues(keys, isNull) : null
}

export interface RankedTexts {
  codes: Uint32Array
  texts: string[]
  counts: Uint32Array
}

/**
 * Ranks a column of texts or wide integers, whose order is that of the database: texts by their bytes,
 * integers by value. Returns null if there are too many.
 */
export async function rankTexts(table: RowsTable, { name }: Column): Promise<RankedTexts | null> {
  const column = quoteName(name)
  const { connection, from } = table
  const distinct = `SELECT DISTINCT ${column} AS v FROM ${from} WHERE ${column} IS NOT NULL`
  const result = await connection.runAndReadAll(
    `SELECT v::VARCHAR FROM (${distinct} LIMIT ${MAX_DISTINCT_TEXTS + 1}) ORDER BY v`,
  )
  const texts = result.getRows().map(([text]) => text as string)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (texts.length > MAX_DISTINCT_TEXTS || bytes > MAX_TEXT_BYTES) return null
  const codes = new Uint32Array(table.rows)
  const counts = new Uint32Array(texts.length + 1)
  if (texts.length === 0) {
    counts[0] = table.rows
    return { codes, texts, counts }
  }
  const type = 'compiled_texts'
  await connection.run(`CREATE TYPE ${type} AS ENUM (SELECT v::VARCHAR FROM (${distinct}) ORDER BY v)`)
  try {
    let row = 0
    const code = `coalesce(enum_code(${column}::VARCHAR::${type})::UINTEGER + 1, 0)::UINTEGER`
    await eachChunk(table, `SELECT ${code} FROM ${from}`, ([values]) => {
      codes.set(values as Uint32Array, row)
      row += values!.length
    })
    if (row !== table.rows) throw new Error(`the rows have ${row} values of ${name}`)
  } finally {
    await connection.run(`DROP TYPE ${type}`)
  }
  for (let i = 0; i < codes.length; i++) counts[codes[i]!]!++
  return { codes, texts, counts }
}

type Items = Uint8Array | Uint32Array | BigInt64Array | Float64Array

/** Streams a query's chunks as typed arrays, so that memory does not grow with the rows. */
async function eachChunk(
  { connection }: RowsTable,
  sql: string,
  take: (columns: Items[]) => void,
): Promise<void> {
  const result = await connection.stream(sql)
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    const columns = Array.from({ length: chunk.columnCount }, (_, i) => {
      return (chunk.getColumnVector(i) as unknown as { items: Items }).items
    })
    take(columns)
  }
}

export interface TextProfile {
  nulls: number
  /** An estimate, from a HyperLogLog sketch. */
  distinct: number
}

/** Estimates the number of distinct values of columns, in one pass over the rows. */
export async function profileTexts({ connection, from }: RowsTable, names: string[]): Promise<TextProfile[]> {
  if (names.length === 0) return []
  const list = names.map((name) => {
    const column = quoteName(name)
    return `count(*) - count(${column}), approx_count_distinct(${column})`
  })
  const [row] = (await connection.runAndReadAll(`SELECT ${list.join(', ')} FROM ${from}`)).getRows()
  return names.map((_, i) => ({ nulls: Number(row![i * 2]), distinct: Number(row![i * 2 + 1]) }))
}
