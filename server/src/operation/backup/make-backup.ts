import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../base/clock.ts'
import type { Config } from '../../base/settings/config.ts'
import type { ObjectStore } from '../../base/storage/object-store.ts'
import { version as program } from '../../base/version.ts'
import { SNAPSHOTS } from '../../data/blobs/object-keys.ts'
import { requireSameId } from '../../data/installation/installation.ts'
import type { BackupRecord } from './backup-record.ts'
import { CopyError, namingFullDisk } from './copy-error.ts'
import { nextGenerationName } from './find-backup.ts'
import { PinnedSnapshots } from './pin-snapshots.ts'
import {
  dumpDatabase,
  type NamedSnapshot,
  readInstallationId,
  readNamedSnapshots,
  readRevokedRows,
} from './rows/dump-database.ts'
import { openRowReader } from './rows/open-row-reader.ts'
import type { RowReader } from './rows/row-database.ts'
import { BackupFolder } from './target/backup-folder.ts'
import type { BackupTarget, NewGeneration } from './target/backup-target.ts'
import { fromBucket } from './target/bucket-snapshots.ts'
import { fromFolder } from './target/folder-snapshots.ts'
import { DamagedSnapshotError } from './target/snapshot-copies.ts'

/**
 * Max attempts. An attempt is repeated if a snapshot was removed between reading the catalog and pinning or
 * copying it.
 */
const MAX_ROUNDS = 10
/** A missing snapshot counts as lost after this many attempts in which the latest catalog references it. */
const LOST_AFTER = 3
const ROUND_PAUSE = 50

export type BackupProgress =
  | { phase: 'database'; rows: number }
  | { phase: 'snapshots'; done: number; total: number }

export interface BackupOptions {
  config: Pick<Config, 'dataDir' | 'databaseUrl'> & Partial<Pick<Config, 'databaseTimeout'>>
  /** A folder's path, or a target that is open. */
  target: string | BackupTarget
  /** Where the snapshots are, if not in a folder. */
  bucket?: ObjectStore | null
  /** The folder of the snapshots otherwise; by default in the data folder. */
  snapshots?: string
  clock: Clock
  /** How many backups to keep; null keeps all. */
  keep: number | null
  onProgress?: (progress: BackupProgress) => void
}

export interface BackupReport {
  backup: string
  folder: string
  at: string
  /** An earlier backup whose time is later than this one's: the clock was ahead then, or is behind now. */
  after: string | null
  rows: number
  databaseBytes: number
  snapshots: number
  copied: number
  copiedBytes: number
  missing: BackupRecord['missing']
  removed: string[]
}

/**
 * Copies the database as it is at one moment, then every snapshot that this state references, while the
 * service keeps running. Snapshots are immutable: one that an earlier backup copied is not copied again.
 */
export async function makeBackup(options: BackupOptions): Promise<BackupReport> {
  const target = typeof options.target === 'string' ? new BackupFolder(options.target) : options.target
  const unlock = await target.openForWriting().catch((error: unknown) => {
    throw namingFullDisk(error, target.folder)
  })
  const begun: NewGeneration[] = []
  try {
    const { dataDir } = options.config
    const pins = await PinnedSnapshots.open(dataDir).catch((error: unknown) => {
      throw namingFullDisk(error, dataDir)
    })
    try {
      for (let round = 1; ; round++) {
        const report = await backUpOnce(options, target, pins, begun)
        if (report !== 'removed meanwhile') return report
        if (round === MAX_ROUNDS) {
          throw new CopyError('Versions were removed faster than they could be copied. Run the backup again.')
        }
      }
    } finally {
      await pins.close()
    }
  } catch (error) {
    // The disk may be full, also for the server. What is finished has been renamed and stays.
    for (const generation of begun) await target.abandon(generation).catch(() => {})
    throw namingFullDisk(error, target.folder)
  } finally {
    await unlock()
  }
}

async function backUpOnce(
  { config, bucket, snapshots, clock, keep, onProgress = () => {} }: BackupOptions,
  target: BackupTarget,
  pins: PinnedSnapshots,
  begun: NewGeneration[],
): Promise<BackupReport | 'removed meanwhile'> {
  const { reader, at, pinned, lost } = await (bucket
    ? openBucketState(config, clock, bucket)
    : openPinnedState(config, snapshots ?? join(config.dataDir, 'snapshots'), clock, pins))
  let generation: NewGeneration
  let after: string | null
  let database: BackupRecord['database']
  let installationId: string | null
  try {
    installationId = await readInstallationId(reader)
    await requireSameId({ dataDir: config.dataDir, bucket }, { kind: reader.kind, installationId })
    await requireSameInstallation(target, installationId)
    const next = nextGenerationName(await target.generations(), at)
    after = next.after
    generation = await target.begin(next.name)
    begun.push(generation)
    const tables = await dumpDatabase(reader, generation.folder, (rows) =>
      onProgress({ phase: 'database', rows }),
    )
    database = { kind: reader.kind, schemaVersion: reader.schemaVersion, tables }
    const listed = await target.readRevocations()
    const revoked = await readRevokedRows(reader)
    await target.appendRevocations(revoked.filter(({ secretHash }) => !listed.has(secretHash)))
  } finally {
    await reader.close()
  }

  const record: BackupRecord = {
    format: 1,
    at: at.toISOString(),
    program,
    installationId,
    database,
    snapshots: [],
    missing: lost.map((snapshot) => missingSnapshot(snapshot, 'its folder or a file of it is missing')),
  }
  let copied = 0
  let copiedBytes = 0
  for (const [index, { snapshot, folder, isPinned }] of pinned.entries()) {
    onProgress({ phase: 'snapshots', done: index, total: pinned.length })
    const { name, files } = snapshot
    const about = { name, table: snapshot.table, version: snapshot.version }
    const before = await target.copies.copiedBefore(name, files)
    if (before) {
      record.snapshots.push({ ...about, ...before })
      continue
    }
    try {
      const source = bucket ? fromBucket(bucket, name) : fromFolder(folder)
      const copy = await target.copies.copy(source, name, files)
      record.snapshots.push({ ...about, ...copy })
      copied++
      copiedBytes += copy.bytes
    } catch (error) {
      if (!(error instanceof DamagedSnapshotError)) throw error
      // Without a pin, another process may just have removed it. Reading the catalog again shows that.
      if (!isPinned && error.cause !== undefined) {
        await target.abandon(generation)
        return 'removed meanwhile'
      }
      record.missing.push(missingSnapshot(snapshot, error.message))
    }
  }
  const made = await target.finish(generation, record)
  const removed = keep === null ? [] : await target.prune(keep, made)
  return {
    backup: made.name,
    folder: made.folder,
    at: record.at,
    after,
    rows: database.tables.reduce((sum, table) => sum + table.rows, 0),
    databaseBytes: database.tables.reduce((sum, table) => sum + table.bytes, 0),
    snapshots: record.snapshots.length,
    copied,
    copiedBytes,
    missing: record.missing,
    removed,
  }
}

interface PinnedState {
  reader: RowReader
  at: Date
  pinned: { snapshot: NamedSnapshot; folder: string; isPinned: boolean }[]
  lost: NamedSnapshot[]
}

/**
 * Opens a state of the database and pins all of its snapshots. A snapshot that is removed between reading and
 * pinning is not referenced by the next state; one that every state references and that is always missing is
 * lost.
 */
async function openPinnedState(
  config: BackupOptions['config'],
  root: string,
  clock: Clock,
  pins: PinnedSnapshots,
): Promise<PinnedState> {
  const timesMissing = new Map<string, number>()
  for (let round = 1; ; round++) {
    const at = clock()
    const reader = await openRowReader(config)
    try {
      const pinned: PinnedState['pinned'] = []
      const lost: NamedSnapshot[] = []
      let isWhole = true
      for (const snapshot of await readNamedSnapshots(reader)) {
        const source = join(root, snapshot.name)
        try {
          const folder = await pins.pin(snapshot.name, source, snapshot.files)
          pinned.push({ snapshot, folder, isPinned: folder !== source })
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw namingFullDisk(error, config.dataDir)
          const times = (timesMissing.get(snapshot.name) ?? 0) + 1
          timesMissing.set(snapshot.name, times)
          if (times >= LOST_AFTER) lost.push(snapshot)
          else isWhole = false
        }
      }
      if (isWhole) return { reader, at, pinned, lost }
      if (round === MAX_ROUNDS) {
        throw new CopyError('Versions were removed faster than they could be held. Run the backup again.')
      }
    } catch (error) {
      await reader.close()
      throw error
    }
    await reader.close()
    await sleep(ROUND_PAUSE)
  }
}

/** In a bucket, discarded snapshots are kept for at least a day, so they need no pins. */
async function openBucketState(
  config: BackupOptions['config'],
  clock: Clock,
  bucket: ObjectStore,
): Promise<PinnedState> {
  const at = clock()
  const reader = await openRowReader(config)
  try {
    const stored = new Set(await bucket.listFolders(SNAPSHOTS))
    const named = await readNamedSnapshots(reader)
    const pinned = named.filter(({ name }) => stored.has(name))
    return {
      reader,
      at,
      pinned: pinned.map((snapshot) => ({ snapshot, folder: '', isPinned: true })),
      lost: named.filter(({ name }) => !stored.has(name)),
    }
  } catch (error) {
    await reader.close()
    throw error
  }
}

/** If two installations shared one folder, they would prune and restore each other's backups. */
async function requireSameInstallation(target: BackupTarget, installationId: string | null): Promise<void> {
  const newest = (await target.generations()).at(-1)
  if (!newest || installationId === null) return
  const { installationId: other } = await target.read(newest)
  if (other !== null && other !== installationId) {
    throw new CopyError(
      `${target.location} holds backups of another installation. Name a folder of its own for this one.`,
    )
  }
}

function missingSnapshot(
  { name, table, version }: NamedSnapshot,
  reason: string,
): BackupRecord['missing'][number] {
  return { name, table, version, reason }
}
