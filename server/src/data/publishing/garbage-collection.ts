import type { Logger } from 'pino'
import { type Clock, DAY, MINUTE, plus } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { ObjectStore } from '../../base/storage/object-store.ts'
import type { Blobs, DiscardedSnapshot } from '../blobs/blobs.ts'
import { readSnapshotNames } from '../catalog/store.ts'
import { checkInstallation, logMissing } from '../installation/installation.ts'
import type { Staging } from './staging.ts'

/**
 * On PostgreSQL, a commit whose response was lost may still reach the database after the publisher stopped
 * waiting for it, so a version may yet reference a snapshot this young. SQLite's commits end with their
 * process; but with a bucket, that process may run on another machine.
 */
const MIN_ORPHAN_AGE = 10 * MINUTE

interface GarbageDeps {
  database: ControlDatabase
  blobs: Blobs
  staging: Staging
  clock: Clock
  log: Logger
  bucket: ObjectStore | null
  dataDir: string
  /** How many days a discarded snapshot stays in the trash. */
  trashDays: number
}

/** What a collection did or, for a dry run, would do. */
export interface GarbageReport {
  /** Snapshots that no version references; moved to the trash. */
  orphans: string[]
  /** Snapshots that no version references; left in place because the database has no versions at all. */
  leftAlone: string[]
  /** Snapshots that a version references; moved back from the trash. */
  restored: string[]
  /** Unfinished snapshots of processes that were killed; deleted. */
  leftovers: string[]
  /** Snapshots that were in the trash for longer than WAYLEAVE_TRASH_DAYS; deleted. */
  deleted: DiscardedSnapshot[]
  /** The contents of the trash afterwards. */
  trash: DiscardedSnapshot[]
  /** Names in the snapshots folder that are not snapshots of this service; never touched. */
  foreign: string[]
}

/**
 * Reconciles the snapshots folder with the versions in the database. A published snapshot is never deleted
 * directly: a snapshot that no version references is moved to the trash and deleted there after some days.
 */
export class GarbageCollection {
  readonly #parts: GarbageDeps
  readonly #logged = new Set<string>()

  constructor(parts: GarbageDeps) {
    this.#parts = parts
  }

  /** `now` determines which snapshots in the trash have expired. */
  async collect({ dryRun = false, now = this.#parts.clock() } = {}): Promise<GarbageReport> {
    const { database, blobs, staging, bucket, dataDir } = this.#parts
    // Checked at each collection, because a database can be restored or replaced while the server runs.
    const installation = await checkInstallation({ database, blobs, bucket, dataDir })
    // For a folder, the start has logged them.
    if (bucket && this.#unlogged(installation.missing).length > 0) logMissing(installation, this.#parts.log)
    // List the snapshots before the versions: a snapshot that is published in the meantime is then either not
    // in the list or already referenced by its version.
    const stored = await blobs.list()
    const { alive, leftovers } = await staging.sweep({ dryRun })
    const named = new Set(await readSnapshotNames(database.db))
    const restored = await this.#restoreNamed(named, new Set(stored), dryRun)
    const unnamed = stored.filter((name) => !named.has(name) && !alive.has(name))
    // A database without any version is more likely the wrong database than one whose datasets were all
    // removed.
    const leftAlone = named.size === 0 ? unnamed : []
    if (named.size > 0) leftovers.push(...(await this.#removeUnfinished(unnamed, dryRun)))
    const orphans = named.size === 0 ? [] : await this.#discardOrphans(unnamed, dryRun)
    const { deleted, trash } = await this.#emptyTrash(named, now, dryRun)
    const foreign = await blobs.listForeign()
    return { orphans, leftAlone, restored, leftovers, deleted, trash, foreign }
  }

  /** For an unattended server: logs every name that was moved or deleted. */
  async collectAndLog(now?: Date): Promise<void> {
    const { log, trashDays } = this.#parts
    const report = await this.collect(now ? { now } : {})
    for (const snapshot of report.restored)
      log.warn({ snapshot }, `A version names the snapshot ${snapshot}: moved back from the trash.`)
    for (const snapshot of report.orphans)
      log.warn({ snapshot }, `No version names the snapshot ${snapshot}: moved to the trash.`)
    for (const { snapshot } of report.deleted)
      log.warn(
        { snapshot },
        `The snapshot ${snapshot} was in the trash for ${trashDays} ${trashDays === 1 ? 'day' : 'days'}: deleted.`,
      )
    for (const snapshot of this.#unlogged(report.leftAlone))
      log.warn({ snapshot }, `The snapshot ${snapshot} is left alone: the database names no version at all.`)
    const names = this.#unlogged(report.foreign)
    if (names.length > 0) log.info({ names }, 'The folder of snapshots holds names that are not ours.')
  }

  /** The names that were not logged yet. Without this, every collection would log them again. */
  #unlogged(names: string[]): string[] {
    const unlogged = names.filter((name) => !this.#logged.has(name))
    for (const name of unlogged) this.#logged.add(name)
    return unlogged
  }

  /**
   * After the database is restored to an earlier state, it references versions again that had been removed.
   */
  async #restoreNamed(named: Set<string>, stored: Set<string>, dryRun: boolean): Promise<string[]> {
    const { blobs } = this.#parts
    const restored: string[] = []
    for (const discarded of await blobs.listTrash()) {
      const { snapshot } = discarded
      if (!named.has(snapshot) || stored.has(snapshot)) continue
      if (!dryRun) {
        const what = `move ${snapshot} back from the trash`
        if (!(await this.#attempt(what, () => blobs.restore(discarded)))) continue
      }
      restored.push(snapshot)
    }
    return restored
  }

  /** Uploads of snapshots to a bucket that were cut off. The slowest upload writes something within a day. */
  async #removeUnfinished(unnamed: string[], dryRun: boolean): Promise<string[]> {
    const { blobs, clock } = this.#parts
    const removed: string[] = []
    for (const snapshot of unnamed) {
      await this.#attempt(`remove the unfinished snapshot ${snapshot}`, async () => {
        if (await blobs.removeUnfinished(snapshot, plus(clock(), -DAY), dryRun)) removed.push(snapshot)
      })
    }
    return removed
  }

  async #discardOrphans(unnamed: string[], dryRun: boolean): Promise<string[]> {
    const { database, blobs, clock } = this.#parts
    const minAge = database.kind === 'postgres' || !blobs.isLocal ? MIN_ORPHAN_AGE : 0
    const orphans: string[] = []
    for (const snapshot of unnamed) {
      const placedAt = await blobs.placedAt(snapshot)
      if (placedAt === null || (minAge > 0 && placedAt > plus(clock(), -minAge))) continue
      if (!dryRun) {
        const what = `move ${snapshot} to the trash`
        if (!(await this.#attempt(what, () => blobs.discard(snapshot, clock())))) continue
      }
      orphans.push(snapshot)
    }
    if (orphans.length > 0 && !dryRun) {
      // On a file system without working locks, another publisher may have been active after all.
      const named = new Set(await readSnapshotNames(database.db))
      await this.#restoreNamed(named, new Set(await blobs.list()), false)
    }
    return orphans
  }

  /**
   * A snapshot that a version references is kept at any age: it is in the trash because it could not be moved
   * back.
   */
  async #emptyTrash(named: Set<string>, now: Date, dryRun: boolean) {
    const { blobs, trashDays } = this.#parts
    const before = plus(now, -Math.max(trashDays * DAY, blobs.minGrace))
    const deleted: DiscardedSnapshot[] = []
    const trash: DiscardedSnapshot[] = []
    for (const discarded of await blobs.listTrash()) {
      const { entry, snapshot, discardedAt } = discarded
      if (discardedAt > before || named.has(snapshot)) {
        trash.push(discarded)
        continue
      }
      if (!dryRun) {
        if (!(await this.#attempt(`delete ${entry}`, () => blobs.deleteDiscarded(discarded)))) continue
      }
      deleted.push(discarded)
    }
    return { deleted, trash }
  }

  /** One folder that cannot be moved must not prevent the server from starting. */
  async #attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      this.#parts.log.error({ err: error }, `Could not ${what}.`)
      return false
    }
  }
}
