import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '@wayleave/geodata/snapshot'
import type { Clock } from '../../../base/clock.ts'
import { breaksConnection } from '../../../base/database/database-error.ts'
import type { Config } from '../../../base/settings/config.ts'
import type { ObjectStore } from '../../../base/storage/object-store.ts'
import { snapshotsFolder } from '../../../base/storage/snapshots-folder.ts'
import { SNAPSHOTS } from '../../../data/blobs/object-keys.ts'
import { readInstallationFile } from '../../../data/installation/installation-file.ts'
import { CopyError } from '../copy-error.ts'
import { revocationLogFile } from '../revocations/revocation-log.ts'
import { appendRevocations, type Revocation, readRevocations } from '../revocations/revocations.ts'
import { readRevokedRows } from '../rows/dump-database.ts'
import { openRowReader } from '../rows/open-row-reader.ts'
import { type DatabaseMark, markDatabase, restoreState, unmarkDatabase } from '../rows/postgres-mark-store.ts'
import { isPostgresEmpty, runningNodes } from '../rows/postgres-rows-store.ts'
import { latestSchemaVersion, tableShapes } from '../rows/table-shapes-store.ts'
import {
  continuation,
  markUnfinishedRestore,
  readUnfinishedRestore,
  type UnfinishedRestore,
} from './folder-marks.ts'

/** The folder and the database that a backup is restored into. */
export interface RestorePlace {
  config: Pick<Config, 'dataDir' | 'databaseUrl'> & Partial<Pick<Config, 'storageUrl'>>
  /** The bucket that the snapshots are restored into, if not a folder. */
  bucket?: ObjectStore | null
  /** Moves the current contents of the data folder and the database aside. */
  force: boolean
  /** More lists of revocations, such as the log of a data folder that is otherwise lost. */
  revocationFiles: string[]
  clock: Clock
}

/** Makes every decision that a second attempt must not make again, and records it in the folder. */
export async function beginRestore(
  options: RestorePlace,
  source: string,
  backup: string,
  installationId: string | null,
): Promise<UnfinishedRestore> {
  const { config, clock } = options
  const before = readUnfinishedRestore(config.dataDir)
  if (before?.backup === backup && before.source === source && (await isSameDatabase(config, before)))
    return before
  const log = revocationLogFile(config.dataDir)
  const hadLog = existsSync(log)
  await requireFreeStorage(options, installationId)
  const aside = await planEmptyPlace(options, clock(), before)
  const id = randomUUID()
  const command = continuation(config.dataDir, { source, backup })
  if (config.databaseUrl) await claimDatabase(config.databaseUrl, { id, command, at: clock().toISOString() })
  // After the claim: from here on, no node revokes anything in the old database.
  const hasOwnRevocations = await keepRevocations(options, log)
  const mark = { id, source, backup, aside, hasOwnRevocations: hadLog || hasOwnRevocations }
  await markUnfinishedRestore(config.dataDir, mark)
  return mark
}

/** Whether the restore began with this database. */
async function isSameDatabase(
  { databaseUrl }: RestorePlace['config'],
  { id }: UnfinishedRestore,
): Promise<boolean> {
  return !databaseUrl || (await restoreState(databaseUrl, id ?? '')) !== 'unknown'
}

/** A node that starts takes its lease before it looks for the mark, so one of the two sees the other. */
async function claimDatabase(url: string, mark: DatabaseMark): Promise<void> {
  const earlier = await markDatabase(url, mark)
  try {
    await requireNoNodes(url)
  } catch (error) {
    if (earlier) await markDatabase(url, earlier)
    else await unmarkDatabase(url)
    throw error
  }
}

async function requireNoNodes(url: string): Promise<void> {
  if ((await runningNodes(url)).length === 0) return
  throw new CopyError('A server runs on this PostgreSQL database. Stop every node before a restore.')
}

/**
 * Adds the revocations from the old database and the given files to the folder's own log, where a second
 * attempt finds them. Returns whether the old database could be read.
 */
async function keepRevocations({ config, revocationFiles }: RestorePlace, log: string): Promise<boolean> {
  const listed = await readRevocations(log)
  const added: Revocation[] = []
  for (const file of revocationFiles) {
    if (!existsSync(file)) throw new CopyError(`There is no file ${file}.`)
    added.push(...(await readRevocations(file)).values())
  }
  const rows = await readOldDatabase(config)
  added.push(...(rows ?? []))
  await appendRevocations(
    log,
    added.filter(({ secretHash }) => !listed.has(secretHash)),
  )
  return rows !== null
}

/** Null if the database is missing or too damaged to read: then only the other lists are used. */
async function readOldDatabase(config: RestorePlace['config']): Promise<Revocation[] | null> {
  try {
    const reader = await openRowReader(config)
    try {
      return await readRevokedRows(reader)
    } finally {
      await reader.close()
    }
  } catch (error) {
    // Without its list, revoked keys would work again: an outage of PostgreSQL is not a reason to go without it.
    if (breaksConnection(error)) throw error
    return null
  }
}

/**
 * Snapshots outside the data folder cannot be moved aside. In a bucket that is in use by the same installation,
 * `force` lets them stay: their names are random, and what no version names after the restore goes to the trash.
 */
async function requireFreeStorage(
  { config, bucket, force }: RestorePlace,
  installationId: string | null,
): Promise<void> {
  const { dataDir, storageUrl = null } = config
  if (bucket) {
    const file = await readInstallationFile({ dataDir, bucket })
    if (file && file.installationId !== installationId) {
      throw new CopyError(
        `${bucket.location} belongs to the installation ${file.installationId}, and the backup to ${installationId ?? 'none'}. Restore into another bucket or prefix.`,
      )
    }
    if (!force && (await bucket.listFolders(SNAPSHOTS)).length > 0) {
      throw new CopyError(
        `${bucket.location} is not empty. Restore into an empty bucket or prefix. With --force, intact snapshots that are there already are kept, and those that the backup does not name go to the trash.`,
      )
    }
  } else if (storageUrl !== null) {
    const folder = snapshotsFolder({ dataDir, storageUrl })
    if (await holdsAnything(folder))
      throw new CopyError(`${folder} is not empty and is outside the data folder. Empty it first.`)
  }
}

/** What has to be moved aside, or null if there is nothing. Throws without `force`. */
async function planEmptyPlace(
  { config, force }: RestorePlace,
  now: Date,
  before: UnfinishedRestore | null,
): Promise<UnfinishedRestore['aside']> {
  const { dataDir, databaseUrl } = config
  const names = ['snapshots', 'installation.json', 'restoring']
  if (!databaseUrl) names.push('wayleave.db', 'wayleave.db-wal', 'wayleave.db-shm')
  const entries: string[] = []
  for (const name of names) if (await holdsAnything(join(dataDir, name))) entries.push(name)
  if (databaseUrl) await requireNoNodes(databaseUrl)
  const hasTables =
    databaseUrl !== null && !(await isPostgresEmpty(databaseUrl, tableShapes(latestSchemaVersion())))
  if (entries.length === 0 && !hasTables) return null
  if (!force) {
    const what = [
      ...(entries.length > 0 ? [`The data folder ${dataDir} is not empty (${entries.join(', ')}).`] : []),
      ...(hasTables ? ['The PostgreSQL database is not empty.'] : []),
      ...(before
        ? [
            `A restore of the backup ${before.backup} did not finish; to continue it, run: ${continuation(dataDir, before)}\n`,
          ]
        : []),
    ]
    throw new CopyError(
      `${what.join(' ')} Restore into an empty folder and database, or let --force move aside what is there.`,
    )
  }
  return { name: `replaced_${now.toISOString().replaceAll(/[-:.]/g, '').toLowerCase()}`, entries }
}

/** An entry that is already in the target folder was moved by an earlier attempt. */
export async function moveFolderAside(dataDir: string, { aside }: UnfinishedRestore): Promise<void> {
  if (!aside) return
  const folder = join(dataDir, aside.name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of aside.entries) {
    if (existsSync(join(folder, name))) continue
    await rename(join(dataDir, name), join(folder, name)).catch((error: NodeJS.ErrnoException) => {
      // SQLite deletes its -wal and -shm files when the last connection closes.
      if (error.code === 'ENOENT') return
      if (error.code !== 'EBUSY' && error.code !== 'EXDEV') throw error
      throw new CopyError(
        `${join(dataDir, name)} is a volume of its own and cannot be moved aside. Empty it first.`,
      )
    })
  }
  await syncFolder(folder)
  await syncFolder(dataDir)
}

/** A volume's `lost+found` and names that start with a dot do not count as data. */
async function holdsAnything(path: string): Promise<boolean> {
  try {
    const names = await readdir(path)
    return names.some((name) => !name.startsWith('.') && name !== 'lost+found')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return false
    if (code === 'ENOTDIR') return true
    throw error
  }
}
