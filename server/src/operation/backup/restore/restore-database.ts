import { existsSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '@wayleave/geodata/snapshot'
import type { Clock } from '../../../base/clock.ts'
import { openChanges } from '../../../base/database/changes/open-changes.ts'
import { migrateWithin } from '../../../base/database/migrations/migrate.ts'
import { openDatabase, type Tx } from '../../../base/database/open.ts'
import { newId } from '../../../base/id.ts'
import type { Config } from '../../../base/settings/config.ts'
import type { BackupRecord } from '../backup-record.ts'
import type { Revocation } from '../revocations/revocations.ts'
import { backupRows, loadDatabase } from '../rows/load-database.ts'
import { removeMark, restoreState } from '../rows/postgres-mark-store.ts'
import { openPostgresWriter } from '../rows/postgres-rows-store.ts'
import type { RowWriter } from '../rows/row-database.ts'
import { openSqliteWriter, sqliteFile } from '../rows/sqlite-rows-store.ts'
import { latestSchemaVersion, tableShapes } from '../rows/table-shapes-store.ts'
import type { UnfinishedRestore } from './folder-marks.ts'
import {
  type RestoredState,
  readRestoredState,
  settleRestoredState,
  suspendKeys,
} from './restored-state-store.ts'

export interface DatabaseRestore {
  config: Pick<Config, 'dataDir' | 'databaseUrl'>
  clock: Clock
  backup: string
  /** The local folder with the tables. */
  tables: string
  record: BackupRecord
  mark: UnfinishedRestore
  revocations: ReadonlyMap<string, Revocation>
  suspendKeys: boolean
  /** Asked if `suspendKeys` is false and keys work. */
  confirmSuspension: (workingKeys: number) => Promise<boolean>
  onRows: (rows: number) => void
}

/** `rows` is 0 if an earlier attempt has put the database in place already. */
export type RestoredDatabase = RestoredState & { rows: number }

/**
 * Puts the database in place, complete and safe to serve, in one step: PostgreSQL by the commit of one
 * transaction, SQLite by a rename. No server ever sees the rows of the backup without the revocations.
 */
export function restoreDatabase(restore: DatabaseRestore): Promise<RestoredDatabase> {
  const { databaseUrl } = restore.config
  return databaseUrl ? restorePostgres(restore, databaseUrl) : restoreSqlite(restore)
}

async function restorePostgres(restore: DatabaseRestore, url: string): Promise<RestoredDatabase> {
  const { record, mark } = restore
  if ((await restoreState(url, mark.id)) === 'done') return { ...(await finishedState(restore)), rows: 0 }
  const writer = await openPostgresWriter(
    url,
    record.database.schemaVersion,
    tableShapes(latestSchemaVersion()),
    {
      moveAsideTo: mark.aside && `wayleave_${mark.aside.name}`,
    },
  )
  try {
    const rows = await load(restore, writer)
    await migrateWithin(writer.tx, 'postgres')
    const state = await settle(restore, writer.tx)
    await removeMark(writer.tx, mark.id)
    await writer.commit()
    return { ...state, rows }
  } finally {
    await writer.close()
  }
}

async function restoreSqlite(restore: DatabaseRestore): Promise<RestoredDatabase> {
  const { dataDir } = restore.config
  if (existsSync(sqliteFile(dataDir))) return { ...(await finishedState(restore)), rows: 0 }
  const scratch = join(dataDir, 'restoring')
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { mode: 0o700 })
  const writer = await openSqliteWriter(sqliteFile(scratch), restore.record.database.schemaVersion)
  let rows: number
  try {
    rows = await load(restore, writer)
    await writer.commit()
  } finally {
    await writer.close()
  }
  const database = await openDatabase({ databaseUrl: null, dataDir: scratch })
  const state = await database.db
    .transaction()
    .execute((tx) => settle(restore, tx))
    .finally(() => database.close())
  // Closing the last connection has checkpointed the WAL into the file.
  const handle = await open(sqliteFile(scratch), 'r+')
  await handle.chmod(0o600)
  await handle.sync().finally(() => handle.close())
  await rename(sqliteFile(scratch), sqliteFile(dataDir))
  await syncFolder(dataDir)
  await rm(scratch, { recursive: true, force: true })
  return { ...state, rows }
}

/** Loads the rows into the writer's transaction. */
async function load({ tables, record, onRows }: DatabaseRestore, writer: RowWriter): Promise<number> {
  const { schemaVersion } = record.database
  const expected = new Map(record.database.tables.map(({ name, digest }) => [name, digest]))
  const { rows } = await loadDatabase(backupRows(tables, record), writer, schemaVersion, expected, onRows)
  return rows
}

async function settle(restore: DatabaseRestore, tx: Tx): Promise<RestoredState> {
  const { clock, backup, mark, revocations } = restore
  const state = await settleRestoredState(tx, clock(), { backup, restoreId: mark.id }, revocations)
  if (state.workingKeys === 0) return state
  if (!restore.suspendKeys && !(await restore.confirmSuspension(state.workingKeys))) return state
  const suspendedKeys = (await suspendKeys(tx, clock(), backup)).length
  return { ...state, workingKeys: state.workingKeys - suspendedKeys, suspendedKeys }
}

/** The state after a restore that was interrupted once the database was in place. Nodes may be serving from it already. */
async function finishedState(restore: DatabaseRestore): Promise<RestoredState> {
  const { config, clock, backup } = restore
  const database = await openDatabase(config)
  const changes = await openChanges(database, { nodeId: newId('node'), serving: false })
  try {
    return await changes.commit(async (tx, changed) => {
      const suspended = restore.suspendKeys ? await suspendKeys(tx, clock(), backup) : []
      for (const id of suspended) changed('key', id)
      return { ...(await readRestoredState(tx, clock())), suspendedKeys: suspended.length }
    })
  } finally {
    await changes.close()
    await database.close()
  }
}
