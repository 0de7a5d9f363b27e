import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column } from '../feature.ts'
import { isOutOfMemory } from '../open-duckdb.ts'
import { quoteName } from '../quote-sql.ts'
import type { ColumnKeys } from './column-keys.ts'

/** Reads columns of rows.parquet with DuckDB. */

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

/** Reads columns of integers of up to 64 bits, dates, timestamps, booleans or numbers: `keys` gets those of each. */
export async function readKeys(
  table: RowsTable,
  columns: readonly Column[],
  keys: readonly ColumnKeys[],
): Promise<void> {
  const values = columns.map((column) => {
    const [value, type] =
      column.type === 'number' ? [quoteName(column.name), 'DOUBLE'] : [integerSql(column), 'BIGINT']
    return column.nullable ? `coalesce(${value}, 0)::${type}` : `${value}::${type}`
  })
  const nullable = columns.filter((column) => column.nullable)
  const flags = nullable.map(({ name }) => `(${quoteName(name)} IS NULL)::UTINYINT`)
  for (const [i, { nullable }] of columns.entries()) keys[i]!.clear(nullable)
  await eachChunk(table, `SELECT ${[...values, ...flags].join(', ')} FROM ${table.from}`, (items) => {
    for (const [i, column] of columns.entries()) {
      const { buffer, byteOffset, length } = items[i]!
      const words = new Uint32Array(buffer, byteOffset, length * 2)
      const isNull = column.nullable ? (items[columns.length + nullable.indexOf(column)] as Uint8Array) : null
      if (column.type === 'number') keys[i]!.addDoubles(words, isNull)
      else keys[i]!.addIntegers(words, isNull)
    }
  })
  for (const [i, { name }] of columns.entries()) {
    const { rows } = keys[i]!
    if (rows !== table.rows) throw new Error(`the rows have ${rows} values of ${name}`)
  }
}

/** The SQL of a value of a fixed size, as a 64-bit integer or a double. Zero has one form. */
function valueSql(column: Column): string {
  if (column.type !== 'number') return `${integerSql(column)}::BIGINT`
  const name = quoteName(column.name)
  return `(CASE WHEN ${name} = 0 THEN 0 ELSE ${name} END)::DOUBLE`
}

/**
 * The distinct values of a column of values of a fixed size, ascending, and how many rows have each: `keys` gets the
 * values. Returns null if there are more than `keys` has room for, or if a number is not finite.
 */
export async function readDistinct(
  table: RowsTable,
  column: Column,
  keys: ColumnKeys,
): Promise<{ counts: Uint32Array } | null> {
  const room = keys.high.length
  const counts = new Uint32Array(room + 1)
  const name = quoteName(column.name)
  const groups = `SELECT ${valueSql(column)} AS value, count(*)::UINTEGER AS count FROM ${table.from} WHERE ${name} IS NOT NULL GROUP BY 1`
  keys.clear(false)
  let distinct = 0
  await eachChunk(table, `${groups} ORDER BY 1 LIMIT ${room + 1}`, ([values, sizes]) => {
    const { buffer, byteOffset, length } = values!
    if (distinct + length <= room) {
      const words = new Uint32Array(buffer, byteOffset, length * 2)
      if (column.type === 'number') keys.addDoubles(words, null)
      else keys.addIntegers(words, null)
      counts.set(sizes as Uint32Array, distinct + 1)
    }
    distinct += length
  })
  if (distinct > room || !keys.areFinite) return null
  const listed = counts.subarray(0, distinct + 1)
  listed[0] = table.rows - listed.reduce((sum, count) => sum + count, 0)
  return { counts: listed }
}

/** Passes on the values of a column, in row order, as words of 64-bit values, and flags that are 1 for nulls. */
export async function eachValue(
  table: RowsTable,
  column: Column,
  take: (words: Uint32Array, isNull: Uint8Array) => Promise<void>,
): Promise<void> {
  const name = quoteName(column.name)
  const sql = `SELECT coalesce(${valueSql(column)}, 0), (${name} IS NULL)::UTINYINT FROM ${table.from}`
  let row = 0
  await eachChunk(table, sql, async ([values, flags]) => {
    const { buffer, byteOffset, length } = values!
    await take(new Uint32Array(buffer, byteOffset, length * 2), flags as Uint8Array)
    row += length
  })
  if (row !== table.rows) throw new Error(`the rows have ${row} values of ${column.name}`)
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
export async function rankTexts(table: RowsTable, column: Column): Promise<RankedTexts | null> {
  const codes = new Uint32Array(table.rows)
  let row = 0
  const ranked = await rankTextsInParts(table, column, async (part) => {
    codes.set(part, row)
    row += part.length
  })
  return ranked && { codes, ...ranked }
}

/** The same, with the codes of consecutive rows in parts that are passed to `take` with the number of texts. */
export async function rankTextsInParts(
  table: RowsTable,
  { name }: Column,
  take: (codes: Uint32Array, distinct: number) => Promise<void>,
): Promise<Omit<RankedTexts, 'codes'> | null> {
  const column = quoteName(name)
  const { connection, from } = table
  const distinct = 'distinct_texts'
  await connection.run(
    `CREATE TEMP TABLE ${distinct} AS SELECT v::VARCHAR AS text FROM
    (SELECT DISTINCT ${column} AS v FROM ${from} WHERE ${column} IS NOT NULL LIMIT ${MAX_DISTINCT_TEXTS + 1}) ORDER BY v`,
  )
  try {
    const result = await connection.runAndReadAll(`SELECT text FROM ${distinct}`)
    const texts = result.getRows().map(([text]) => text as string)
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    if (texts.length > MAX_DISTINCT_TEXTS || bytes > MAX_TEXT_BYTES) return null
    const counts = new Uint32Array(texts.length + 1)
    await eachCodes(table, name, distinct, texts.length, async (codes) => {
      for (let i = 0; i < codes.length; i++) counts[codes[i]!]!++
      await take(codes, texts.length)
    })
    return { texts, counts }
  } finally {
    await connection.run(`DROP TABLE ${distinct}`)
  }
}

/** Passes on the codes of a column whose texts are in a table, in their order. */
async function eachCodes(
  table: RowsTable,
  name: string,
  distinct: string,
  count: number,
  take: (codes: Uint32Array) => Promise<void>,
): Promise<void> {
  const { connection, from } = table
  // There is no type without values.
  if (count === 0) {
    for (let row = 0; row < table.rows; row += EMPTY_ROWS)
      await take(new Uint32Array(Math.min(EMPTY_ROWS, table.rows - row)))
    return
  }
  const type = 'compiled_texts'
  await connection.run(`CREATE TYPE ${type} AS ENUM (SELECT text FROM ${distinct})`)
  try {
    let row = 0
    const code = `coalesce(enum_code(${quoteName(name)}::VARCHAR::${type})::UINTEGER + 1, 0)::UINTEGER`
    await eachChunk(table, `SELECT ${code} FROM ${from}`, async ([values]) => {
      await take(values as Uint32Array)
      row += values!.length
    })
    if (row !== table.rows) throw new Error(`the rows have ${row} values of ${name}`)
  } finally {
    await connection.run(`DROP TYPE ${type}`)
  }
}

type Items = Uint8Array | Uint32Array | BigInt64Array | Float64Array
/** Rows without a value that are passed on at once. */
const EMPTY_ROWS = 1 << 16

/** Streams a query's chunks as typed arrays, so that memory does not grow with the rows. */
async function eachChunk(
  { connection }: RowsTable,
  sql: string,
  take: (columns: Items[]) => Promise<void> | void,
): Promise<void> {
  const result = await connection.stream(sql)
  // The database works on the next chunk while this one is taken.
  let next = result.fetchChunk()
  for (;;) {
    const chunk = await next
    if (!chunk || chunk.rowCount === 0) return
    next = result.fetchChunk()
    next.catch(() => {})
    const columns = Array.from({ length: chunk.columnCount }, (_, i) => {
      return (chunk.getColumnVector(i) as unknown as { items: Items }).items
    })
    const taking = take(columns)
    if (taking) await taking
  }
}

export interface TextProfile {
  nulls: number
  /** An estimate, from a HyperLogLog sketch. */
  distinct: number
}

/**
 * Estimates the number of distinct values of columns, in one pass over the rows; null for a column whose texts are
 * too large for the memory of the database.
 */
export async function profileTexts(
  table: RowsTable,
  columns: readonly Column[],
): Promise<(TextProfile | null)[]> {
  if (columns.length === 0) return []
  const list = columns.map(({ name }) => {
    const column = quoteName(name)
    return `count(*) - count(${column}), approx_count_distinct(${column})`
  })
  try {
    const result = await table.connection.runAndReadAll(`SELECT ${list.join(', ')} FROM ${table.from}`)
    const [row] = result.getRows()
    return columns.map((_, i) => ({ nulls: Number(row![i * 2]), distinct: Number(row![i * 2 + 1]) }))
  } catch (error) {
    if (!isOutOfMemory(error)) throw error
    if (columns.length === 1) return [null]
    const profiles: (TextProfile | null)[] = []
    for (const column of columns) profiles.push(...(await profileTexts(table, [column])))
    return profiles
  }
}
