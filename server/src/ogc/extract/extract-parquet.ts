import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import {
  PositionBits,
  type PositionRuns,
  parquetSql,
  quoteName,
  quoteText,
  type Snapshot,
} from '@wayleave/geodata/features'
import { exportColumns, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { QueryEngine, TimedWork } from '@wayleave/query'
import type { Staging } from '../../data/publishing/staging.ts'

/**
 * The rows as GeoParquet with the features' ids and the columns of the GeoParquet download, in the order of the
 * dataset. DuckDB writes the file in a query process. It is removed as soon as it is open; the file of a killed process lies in a
 * staging folder, which the next start sweeps.
 */
export async function parquetFile(
  snapshot: Snapshot,
  table: string,
  runs: PositionRuns,
  { engine, staging }: { engine: QueryEngine; staging: Staging },
  work: TimedWork,
): Promise<{ stream: Readable; bytes: number }> {
  const stage = staging.begin(table)
  try {
    const path = join(stage.folder, 'rows.parquet')
    const sql = () =>
      `COPY (SELECT ${columnList(snapshot)} FROM ${fileOf(snapshot)} WHERE ${IS_SELECTED}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION zstd)`
    const positions = PositionBits.empty(snapshot.manifest.rows)
    positions.addRuns(runs)
    await engine.duckdb.texts({ snapshot, columns: new Map() }, sql, [positions.bytes], work)
    const file = await open(path)
    const { size } = await file.stat()
    return { stream: file.createReadStream(), bytes: size }
  } finally {
    await stage.end()
  }
}

const IS_SELECTED = 'get_bit(CAST(CAST($1 AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1'

function fileOf(snapshot: Snapshot): string {
  const { folder } = snapshot
  const rows = parquetSql(join(folder, SNAPSHOT_FILES.rows), 'file_row_number = true')
  const name = rowNumberName(snapshot)
  if (name === null) return rows
  const ids = parquetSql(join(folder, SNAPSHOT_FILES.ids))
  return `(SELECT r.*, i.id AS ${quoteName(name)} FROM ${rows} r POSITIONAL JOIN ${ids} i)`
}

/** The name of the ids if they are row numbers, which are not a column of the rows. */
function rowNumberName({ manifest: { id } }: Snapshot): string | null {
  return id.isRowNumber === true ? (id.name ?? null) : null
}

function columnList(snapshot: Snapshot): string {
  const { manifest } = snapshot
  const names = exportColumns(manifest).map(({ name }) => quoteName(name))
  const rowNumber = rowNumberName(snapshot)
  if (rowNumber !== null) names.unshift(quoteName(rowNumber))
  if (manifest.geometryType !== null) names.push('geometry')
  // A table without any column still has rows.
  return names.length > 0 ? names.join(', ') : '"row"'
}
