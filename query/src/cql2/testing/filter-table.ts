import type { TestContext } from 'node:test'
import { DuckDBBlobValue, type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { quoteName } from '@wayleave/geodata/features'
import { prepare } from '@wayleave/geodata/geometry'
import type { FilterPlan } from '../../plan/plan-filter.ts'
import type { DecideInBox } from '../evaluate/decide-in-box.ts'
import { wkt } from './print-text.ts'
import { COLUMNS, type Row } from './random-filters.ts'

/** A database in memory, closed after the test. */
export async function openFilterDatabase(
  t: TestContext,
): Promise<{ instance: DuckDBInstance; connection: DuckDBConnection }> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  t.after(() => {
    connection.closeSync()
    instance.closeSync()
  })
  await connection.run("SET GLOBAL TimeZone = 'UTC'")
  return { instance, connection }
}

const SQL_TYPES = {
  boolean: 'BOOLEAN',
  integer: 'BIGINT',
  number: 'DOUBLE',
  text: 'VARCHAR',
  date: 'DATE',
  timestamp: 'TIMESTAMPTZ',
  json: 'JSON',
}

/** Creates a table like rows.parquet. The column `wide` has the type that holds 38 digits. */
export async function createTable(database: DuckDBConnection, rows: Row[], wide: string): Promise<void> {
  const types = COLUMNS.map(({ name, type }) => (name === 'wide' ? wide : SQL_TYPES[type]))
  const definitions = COLUMNS.map(({ name }, i) => `${quoteName(name)} ${types[i]}`)
  await database.run(
    `CREATE OR REPLACE TABLE t (${definitions.join(', ')}, geometry GEOMETRY, position INTEGER)`,
  )
  const values = [...types, 'GEOMETRY', 'INTEGER'].map((type, i) => `CAST($${i + 1} AS ${type})`).join(', ')
  for (const [position, { values: cells, geometry }] of rows.entries()) {
    const bound = COLUMNS.map(({ name, type }) => {
      const value = cells[name] ?? null
      if (value === null) return null
      return type === 'json' ? JSON.stringify(value) : String(value)
    })
    await database.run(`INSERT INTO t VALUES (${values})`, [...bound, geometry && wkt(geometry), position])
  }
}

/** Does what the caller of a plan does: runs the SQL, then the exact test on its results. */
export async function selected(database: DuckDBConnection, plan: FilterPlan, rows: Row[]): Promise<number[]> {
  const derived = Array.from(plan.sql.derived, ([name, made]) => `, ${made} AS ${quoteName(name)}`)
  const sql = `SELECT position FROM (SELECT *, position AS file_row_number${derived.join('')} FROM t) WHERE ${plan.sql.where} ORDER BY position`
  const values = plan.sql.params.map((value) => (typeof value === 'function' ? bits(value, rows) : value))
  const result = await database.runAndReadAll(sql, values)
  const positions = result.getRows().map(([position]) => position as number)
  return positions.filter((position) => plan.exact === null || plan.exact(asFeature(rows[position]!)))
}

/**
 * A bit set of the positions that `decide` does not rule out by the geometry's box, and of those without a
 * box.
 */
function bits(decide: DecideInBox, rows: Row[]): DuckDBBlobValue {
  const bytes = new Uint8Array(Math.ceil(rows.length / 8))
  rows.forEach(({ geometry }, position) => {
    const box = geometry && prepare(geometry)
    const decided = !box || box.isEmpty ? undefined : decide(box.west, box.south, box.east, box.north)
    if (decided === true || decided === undefined) bytes[position >>> 3]! |= 0x80 >>> (position & 7)
  })
  return new DuckDBBlobValue(bytes)
}

export function asFeature({ values, geometry }: Row) {
  return { properties: values, geometry }
}
