import { mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { syncFolder } from '@wayleave/geodata/snapshot'
import { lockDataFolder } from '../../../base/locks/data-folder-lock.ts'
import { snapshotsFolder } from '../../../base/storage/snapshots-folder.ts'
import type { BackupRecord } from '../backup-record.ts'
import { checkBackup } from '../check-backup.ts'
import { CopyError, namingFullDisk } from '../copy-error.ts'
import { type Choice, findBackup, whileItExists } from '../find-backup.ts'
import { revocationLogFile } from '../revocations/revocation-log.ts'
import { readRevocations } from '../revocations/revocations.ts'
import { latestSchemaVersion } from '../rows/table-shapes-store.ts'
import { BackupFolder } from '../target/backup-folder.ts'
import type { BackupTarget, Generation } from '../target/backup-target.ts'
import { BucketSnapshots } from '../target/bucket-snapshots.ts'
import { FolderSnapshots } from '../target/folder-snapshots.ts'
import { openScratch } from '../target/scratch-folder.ts'
import type { SnapshotFiles } from '../target/snapshot-copies.ts'
import { readUnfinishedRestore, unmarkMovedDatabase, unmarkRestore } from './folder-marks.ts'
import { restoreDatabase } from './restore-database.ts'
import { beginRestore, moveFolderAside, type RestorePlace } from './restore-place.ts'
import type { RestoredState } from './restored-state-store.ts'

export type RestoreProgress =
  | { phase: 'checking'; done: number; total: number }
  | { phase: 'snapshots'; done: number; total: number }
  | { phase: 'database'; rows: number }

export interface RestoreOptions extends RestorePlace {
  /** A folder's path, or a source that is open. */
  source: string | BackupTarget
  /** Restores the newest backup made at or before this time; null restores the newest one. */
  at: Date | null
  suspendKeys: boolean
  onProgress?: (progress: RestoreProgress) => void
  /** Called if revocations after a certain time are unknown. If it is missing, keys are not suspended. */
  confirmSuspension?: (workingKeys: number, revocationsUntil: string) => Promise<boolean>
}

export interface RestoreReport extends RestoredState {
  backup: string
  at: string
  rows: number
  snapshots: number
  missing: BackupRecord['missing']
  /** Where the previous contents are now; null if there were none. */
  movedAside: string | null
  /** Revocations are known up to this time; later ones only if a surviving log or database has them. */
  revocationsUntil: string
  /** Whether the old database or the data folder's own log could be read. */
  hasOwnRevocations: boolean
}

/**
 * Restores a backup into an empty data folder and an empty database. The database is put in place last and
 * atomically; until then a mark in the folder, and on PostgreSQL one in the database, prevents servers from
 * starting and from serving. After a crash, running the same command again continues the restore.
 */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreReport> {
  const source =
    typeof options.source === 'string' ? new BackupFolder(resolve(options.source)) : options.source
  const { generation, record } = await findBackup(source, await chooseBackup(options, source))
  if (record.database.schemaVersion > latestSchemaVersion()) {
    throw new CopyError(
      `The backup ${generation.name} is of schema version ${record.database.schemaVersion}, and this program knows versions up to ${latestSchemaVersion()}. Use a newer program.`,
    )
  }
  return whileItExists(source, generation, () => restoreFound(options, source, generation, record))
}

/** Without a time, an unfinished restore from the same source is continued, even if there is a newer backup. */
async function chooseBackup(
  { at, force, config: { dataDir } }: RestoreOptions,
  source: BackupTarget,
): Promise<Choice> {
  const unfinished = readUnfinishedRestore(dataDir)
  if (at !== null || unfinished?.source !== source.location) return at
  const generations = await source.generations()
  if (generations.some(({ name }) => name === unfinished.backup)) return { name: unfinished.backup }
  if (force) return null
  throw new CopyError(
    `A restore of the backup ${unfinished.backup} into ${dataDir} did not finish, and that backup is no longer in ${source.location}. To restore the newest one instead, add --force, which moves aside what was restored.`,
  )
}

async function restoreFound(
  options: RestoreOptions,
  source: BackupTarget,
  generation: Generation,
  record: BackupRecord,
): Promise<RestoreReport> {
  return source.withTables(generation, record, async (tables) => {
    const total = record.snapshots.length
    const damage = await checkBackup(source, generation, tables, record, (done) =>
      options.onProgress?.({ phase: 'checking', done, total }),
    )
    if (damage.length > 0) {
      throw new CopyError(
        `The backup ${generation.name} is damaged, and nothing was restored:\n${damage.map((sentence) => `  ${sentence}`).join('\n')}\nRestore another one with --at.`,
      )
    }
    const unlock = lockDataFolder(options.config.dataDir)
    try {
      return await restoreChecked(options, { source, backup: generation.name, tables, record })
    } catch (error) {
      throw namingFullDisk(error, options.config.dataDir)
    } finally {
      unlock()
    }
  })
}

interface CheckedBackup {
  source: BackupTarget
  backup: string
  /** The local folder with the tables. */
  tables: string
  record: BackupRecord
}

async function restoreChecked(
  options: RestoreOptions,
  { source, backup, tables, record }: CheckedBackup,
): Promise<RestoreReport> {
  const { config, onProgress = () => {} } = options
  const { dataDir } = config
  const total = record.snapshots.length
  const mark = await beginRestore(options, source.location, backup, record.installationId)
  await moveFolderAside(dataDir, mark)
  await restoreSnapshots(options, source, record, (done) => onProgress({ phase: 'snapshots', done, total }))
  const revocations = await readRevocations(revocationLogFile(dataDir))
  for (const [hash, revocation] of await source.readRevocations()) revocations.set(hash, revocation)
  const revocationsUntil = [await newestTime(source), ...Array.from(revocations.values(), ({ at }) => at)]
    .sort()
    .at(-1)!
  const hasLists = mark.hasOwnRevocations || options.revocationFiles.length > 0
  const restored = await restoreDatabase({
    ...options,
    backup,
    tables,
    record,
    mark,
    revocations,
    confirmSuspension: async (workingKeys) =>
      hasLists ? false : ((await options.confirmSuspension?.(workingKeys, revocationsUntil)) ?? false),
    onRows: (rows) => onProgress({ phase: 'database', rows }),
  })
  await unmarkMovedDatabase(dataDir)
  await unmarkRestore(dataDir)
  return {
    ...restored,
    backup,
    at: record.at,
    snapshots: total,
    missing: record.missing,
    movedAside: mark.aside?.name ?? null,
    revocationsUntil,
    hasOwnRevocations: mark.hasOwnRevocations,
  }
}

/** The list next to the backups was updated by the newest of them, not by the one that is restored. */
async function newestTime(source: BackupTarget): Promise<string> {
  return (await source.read((await source.generations()).at(-1)!)).at
}

async function restoreSnapshots(
  { config, bucket }: RestoreOptions,
  source: BackupTarget,
  record: BackupRecord,
  onSnapshot: (done: number) => void,
): Promise<void> {
  if (bucket) {
    const scratch = await openScratch(config.dataDir)
    try {
      await copyToBucket(new BucketSnapshots(bucket, scratch.folder), source, record, onSnapshot)
    } finally {
      await scratch.close()
    }
    return
  }
  const root = snapshotsFolder({ dataDir: config.dataDir, storageUrl: config.storageUrl ?? null })
  const copies = new FolderSnapshots(root)
  await mkdir(root, { recursive: true, mode: 0o700 })
  for (const [index, { name }] of record.snapshots.entries()) {
    onSnapshot(index)
    const files = await filesOf(source, name)
    if (await copies.copiedBefore(name, files)) continue
    await copies.copy(source.copies.source(name), name, files)
  }
  await syncFolder(dirname(root))
}

async function copyToBucket(
  copies: BucketSnapshots,
  source: BackupTarget,
  record: BackupRecord,
  onSnapshot: (done: number) => void,
): Promise<void> {
  for (const [index, snapshot] of record.snapshots.entries()) {
    onSnapshot(index)
    const { name } = snapshot
    const files = await filesOf(source, name)
    if (await copies.copiedBefore(name, files)) {
      // A bucket that was in use may have damaged objects, which can be the reason for the restore.
      if ((await copies.check(snapshot)).length === 0) continue
      await copies.remove(name)
    }
    await copies.copy(source.copies.source(name), name, files)
  }
}

/** The manifest has been checked against the record, and the files against the manifest. */
async function filesOf(source: BackupTarget, name: string): Promise<SnapshotFiles> {
  const manifest = await source.copies.readManifest(name)
  if (manifest === null) throw new CopyError(`The snapshot ${name} vanished from ${source.location}.`)
  return manifest.files
}
