import { join } from 'node:path'
import { blobValue, type DuckDBConnection } from '@duckdb/node-api'
import { openDuckDb } from '../../open-duckdb.ts'
import { PositionBits } from '../../pack/position-bits.ts'
import { parquetSql, quoteName, quoteText } from '../../quote-sql.ts'
import { exportColumns, idColumn } from '../../snapshot/feature-ids.ts'
import { type Manifest, SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { duckDbOptions } from '../export-options.ts'
import { type ChangeCounts, type ComparedSnapshot, compareSnapshots } from './compare-snapshots.ts'

/**
 * GeoParquet with the columns of the newer version after a column `change`. Removed features have the values that
 * they had, as far as the columns still exist and their values fit.
 */
export async function writeChangesParquet(
  before: ComparedSnapshot,
  after: ComparedSnapshot,
  partial: string,
  signal?: AbortSignal,
): Promise<ChangeCounts> {
  const added = flagsOf(after)
  const touched = flagsOf(after)
  const removed = flagsOf(before)
  const visitor = {
    added: (_feature: unknown, position: number) => {
      added.add(position)
      touched.add(position)
    },
    changed: (_feature: unknown, position: number) => touched.add(position),
    removed: (_before: unknown, position: number) => removed.add(position),
  }
  const counts = await compareSnapshots(before, after, visitor, signal)
  const rowsOf = ({ folder }: ComparedSnapshot) => join(folder, SNAPSHOT_FILES.rows)
  const files = [rowsOf(before), rowsOf(after), partial]
  const { connection, close } = await openDuckDb({ ...duckDbOptions({}), files })
  const interrupt = () => connection.interrupt()
  signal?.addEventListener('abort', interrupt, { once: true })
  try {
    const oldTypes = await typesOf(connection, rowsOf(before))
    const newTypes = await typesOf(connection, rowsOf(after))
    const columns = columnsOf(after.manifest)
    const olds = columns.map((name) => oldValue(name, before.manifest, after.manifest, oldTypes, newTypes))
    const list = columns.map((name) => `, ${quoteName(name)}`).join('')
    const change = quoteName(changeName(columns))
    const sql = `COPY (
      SELECT CASE WHEN ${isFlagged('$1')} THEN 'added' ELSE 'changed' END AS ${change}${list}
        FROM ${rowsFrom(rowsOf(after))} WHERE ${isFlagged('$2')}
      UNION ALL
      SELECT 'removed' AS ${change}${olds.map((value) => `, ${value}`).join('')}
        FROM ${rowsFrom(rowsOf(before))} WHERE ${isFlagged('$3')}
    ) TO ${quoteText(partial)} (FORMAT parquet, COMPRESSION zstd)`
    await connection.run(
      sql,
      [added, touched, removed].map(({ bytes }) => blobValue(Buffer.from(bytes))),
    )
    signal?.throwIfAborted()
    return counts
  } finally {
    signal?.removeEventListener('abort', interrupt)
    close()
  }
}

/** The name of the column that says what happened; no column of the dataset has it. */
function changeName(columns: readonly string[]): string {
  const usedNames = new Set(columns.map((name) => name.toLowerCase()))
  let name = 'change'
  for (let n = 1; usedNames.has(name); n++) name = `change_${n}`
  return name
}

/** The columns of `rows.parquet` in their order. */
function columnsOf(manifest: Manifest): string[] {
  const names = exportColumns(manifest).map(({ name }) => name)
  return manifest.geometryType === null ? names : [...names, 'geometry']
}

/** The value of a removed feature for a column of the newer version. */
function oldValue(
  name: string,
  before: Manifest,
  after: Manifest,
  oldTypes: ReadonlyMap<string, string>,
  newTypes: ReadonlyMap<string, string>,
): string {
  const isId = name === idName(after)
  const oldName = isId ? idName(before) : name
  const type = newTypes.get(name)!
  const oldType = oldTypes.get(oldName)
  if (oldType === undefined) return `CAST(NULL AS ${type}) AS ${quoteName(name)}`
  const column = quoteName(oldName)
  return `${oldType === type ? column : `TRY_CAST(${column} AS ${type})`} AS ${quoteName(name)}`
}

/** The column of `rows.parquet` that has the ids. */
function idName(manifest: Manifest): string {
  return idColumn(manifest)?.name ?? manifest.id.column!
}

async function typesOf(connection: DuckDBConnection, path: string): Promise<Map<string, string>> {
  const rows = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquetSql(path)}`)
  return new Map(rows.getRowsJS().map(([name, type]) => [String(name), String(type)]))
}

function rowsFrom(path: string): string {
  return parquetSql(path, 'file_row_number = true')
}

/** DuckDB has no empty bit strings. */
function flagsOf({ manifest }: ComparedSnapshot): PositionBits {
  return PositionBits.empty(Math.max(1, manifest.rows))
}

function isFlagged(parameter: string): string {
  return `get_bit(CAST(CAST(${parameter} AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1`
}
