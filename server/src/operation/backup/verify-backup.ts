import { type Db, openDatabase } from '../../base/database/open.ts'
import { readTables } from '../../data/catalog/store.ts'
import { readStoredVersions } from '../../data/catalog/version-store.ts'
import type { Finding } from '../verification/finding.ts'
import { verifyDatabase } from '../verification/verify-database.ts'
import { damageFinding } from '../verification/verify-snapshots.ts'
import type { BackupRecord } from './backup-record.ts'
import { checkBackup } from './check-backup.ts'
import { namingFullDisk } from './copy-error.ts'
import { type Choice, findBackup, whileItExists } from './find-backup.ts'
import { backupRows, loadDatabase } from './rows/load-database.ts'
import { openSqliteWriter, sqliteFile } from './rows/sqlite-rows-store.ts'
import type { BackupTarget, Generation } from './target/backup-target.ts'
import { DamagedSnapshotError, requireSameFiles } from './target/snapshot-copies.ts'

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
  target: BackupTarget,
  choice: Choice,
  onSnapshot: (done: number, total: number) => void = () => {},
): Promise<VerifiedBackup> {
  const { generation, record } = await findBackup(target, choice)
  return whileItExists(target, generation, () => verifyFound(target, generation, record, onSnapshot))
}

async function verifyFound(
  target: BackupTarget,
  generation: Generation,
  record: BackupRecord,
  onSnapshot: (done: number, total: number) => void,
): Promise<VerifiedBackup> {
  const total = record.snapshots.length
  const result = { backup: generation.name, at: record.at, snapshots: total }
  return target.withTables(generation, record, async (tables) => {
    const damage = await checkBackup(target, generation, tables, record, (done) => onSnapshot(done, total))
    const findings: Finding[] = damage.map((message) => ({
      severity: 'problem',
      check: 'backup',
      subject: generation.name,
      message,
      remedy: 'Make a new backup, and look for the cause: the disk that holds this one is failing.',
    }))
    if (damage.length > 0) {
      // Files that are missing because the backup was removed meanwhile are not damage.
      await target.read(generation)
      return { ...result, rows: 0, findings }
    }
    const work = async (scratch: string) => {
      const { schemaVersion, tables: all } = record.database
      const expected = new Map(all.map(({ name, digest }) => [name, digest]))
      const writer = await openSqliteWriter(sqliteFile(scratch), schemaVersion)
      let rows: number
      try {
        ;({ rows } = await loadDatabase(backupRows(tables, record), writer, schemaVersion, expected))
        await writer.commit()
      } finally {
        await writer.close()
      }
      const database = await openDatabase({ databaseUrl: null, dataDir: scratch })
      try {
        findings.push(...(await verifyDatabase(database)))
        findings.push(...(await compareWithCatalog(target, database.db)))
      } finally {
        await database.close()
      }
      return { ...result, rows, findings }
    }
    return target.withScratch(work).catch((error: unknown) => {
      throw namingFullDisk(error, target.folder)
    })
  })
}

/** Whether the backup has the snapshot of each version. Their bytes were compared with their manifests before. */
async function compareWithCatalog({ copies }: BackupTarget, db: Db): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const table of await readTables(db)) {
    for (const version of await readStoredVersions(db, table)) {
      const manifest = await copies.readManifest(version.snapshot)
      if (manifest === null) {
        findings.push(damageFinding(version, 'The snapshot is missing.'))
        continue
      }
      try {
        requireSameFiles(manifest, version.manifest.files)
      } catch (error) {
        if (!(error instanceof DamagedSnapshotError)) throw error
        findings.push(damageFinding(version, `${error.message}.`))
      }
    }
  }
  return findings
}
