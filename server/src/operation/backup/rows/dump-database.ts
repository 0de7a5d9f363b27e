import type { Manifest } from '@wayleave/geodata/snapshot'
import { type BackedUpTable, tableFile } from '../backup-record.ts'
import type { Revocation } from '../revocations/revocations.ts'
import type { SnapshotFiles } from '../target/snapshot-copies.ts'
import type { Row, RowReader } from './row-database.ts'
import { writeTableFile } from './table-file.ts'
import { type TableShape, tableShapes } from './table-shapes-store.ts'

/** A snapshot that the catalog references, with the checksums that the catalog holds for its files. */
export interface NamedSnapshot {
  name: string
  table: string
  version: number
  files: SnapshotFiles
}

/** Writes every table of one state of the database to files. */
export async function dumpDatabase(
  reader: RowReader,
  folder: string,
  onRows: (rows: number) => void,
): Promise<BackedUpTable[]> {
  const tables: BackedUpTable[] = []
  let rows = 0
  for (const shape of tableShapes(reader.schemaVersion)) {
    const written = await writeTableFile(tableFile(folder, shape.name), reader, shape, (more) => {
      rows += more
      onRows(rows)
    })
    tables.push({ name: shape.name, columns: shape.columns, ...written })
  }
  return tables
}

export async function readNamedSnapshots(reader: RowReader): Promise<NamedSnapshot[]> {
  const named = await mapRows(reader, 'versions', (field) => ({
    name: (field('reused_snapshot') ?? field('snapshot')) as string,
    table: field('table_name') as string,
    version: field('version') as number,
    files: (JSON.parse(field('manifest') as string) as Manifest).files,
  }))
  // Versions may share a snapshot.
  return [...new Map(named.map((snapshot) => [snapshot.name, snapshot])).values()]
}

/** Reads every secret that must not work again from this state of the database. */
export async function readRevokedRows(reader: RowReader): Promise<Revocation[]> {
  return mapRows(reader, 'revoked_secrets', (field) => ({
    secretHash: field('secret_hash') as string,
    keyId: field('key_id') as string,
    at: field('at') as string,
  }))
}

/** The installation's id, which another part of the program may have written; null if there is none. */
export async function readInstallationId(reader: RowReader): Promise<string | null> {
  const rows = await mapRows(reader, 'installation_secrets', (field) => [field('name'), field('value')])
  const row = rows.find(([name]) => name === 'installation-id')
  return (row?.[1] as string | undefined) ?? null
}

/** Returns no rows if the schema is older than the table. */
async function mapRows<T>(
  reader: RowReader,
  table: string,
  map: (field: (column: string) => Row[number]) => T,
): Promise<T[]> {
  const shape = tableShapes(reader.schemaVersion).find(({ name }) => name === table)
  if (!shape) return []
  const result: T[] = []
  for await (const batch of reader.rows(shape)) {
    for (const row of batch) result.push(map((column) => row[indexOf(shape, column)] ?? null))
  }
  return result
}

function indexOf(shape: TableShape, column: string): number {
  return shape.columns.indexOf(column)
}
