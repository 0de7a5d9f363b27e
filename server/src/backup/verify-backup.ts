import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '../database/open.ts'
import type { Finding } from '../verification/finding.ts'
import { verifyDatabase } from '../verification/verify-database.ts'
import { verifySnapshots } from '../verification/verify-snapshots.ts'
import type { BackupFolder } from './backup-folder.ts'
import { checkBackup } from './check-backup.ts'
import { backupRows, loadDatabase } from './rows/load-database.ts'
import { openSqliteWriter, sqliteFile } from './rows/sqlite-rows-store.ts'

export interface VerifiedBackup {
  backup: string
  at: string
  rows: number
  snapshots: number
  findings: Finding[]
}

/**
 * Verifies a backup by restoring it into a scratch folder: every byte is checked against its checksum, every
 * row is counted and compared after loading, the ledger is checked against the balances, and the catalog
 * against the snapshots. The scratch database is always SQLite: both databases share the backup format, and
 * no PostgreSQL is needed.
 */
export async function verifyBackup(
  target: BackupFolder,
  at: Date | null,
  onSnapshot: (done: number, total: number) => void = () => {},
): Promise<VerifiedBackup> {
  const { generation, record } = await target.find(at)
  const total = record.snapshots.length
  const result = { backup: generation.name, at: record.at, snapshots: total }
  const damage = await checkBackup(target, generation, record, (done) => onSnapshot(done, total))
  const findings: Finding[] = damage.map((message) => ({
    severity: 'problem',
    check: 'backup',
    subject: generation.name,
    message,
    remedy: 'Make a new backup, and look for the cause: the disk that holds this one is failing.',
  }))
  if (damage.length > 0) return { ...result, rows: 0, findings }

  const scratch = join(target.backups, `.partial-verify-${process.pid}`)
  await mkdir(scratch, { mode: 0o700 })
  try {
    const { schemaVersion, tables } = record.database
    const expected = new Map(tables.map(({ name, digest }) => [name, digest]))
    const writer = await openSqliteWriter(sqliteFile(scratch), schemaVersion)
    let rows: number
    try {
      ;({ rows } = await loadDatabase(backupRows(generation.folder, record), writer, schemaVersion, expected))
      await writer.commit()
    } finally {
      await writer.close()
    }
    const database = await openDatabase({ databaseUrl: null, dataDir: scratch })
    try {
      findings.push(...(await verifyDatabase(database)))
      const { findings: damaged } = await verifySnapshots(database.db, target.snapshots)
      // Ignore the rest: the folder also holds the snapshots of other backups.
      findings.push(...damaged.filter(({ severity }) => severity === 'problem'))
    } finally {
      await database.close()
    }
    return { ...result, rows, findings }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
