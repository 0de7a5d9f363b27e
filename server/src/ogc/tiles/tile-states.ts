import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { TilesRecord } from '@wayleave/contract/records'
import { BoundedCache } from '@wayleave/geodata/base'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import { tryLock } from '../../base/locks/file-lock.ts'
import type { MaybePromise } from '../../base/maybe-promise.ts'
import type { Blobs } from '../../data/blobs/blobs.ts'
import type { ListedVersion, Version } from '../../data/catalog/dataset.ts'
import { stampOf } from '../../data/catalog/file-stamp.ts'
import { localFile, storedFile } from '../../data/downloads/exports/built-file.ts'
import type { StoredFile } from '../../data/downloads/exports/export-file.ts'
import type { JobQueue } from '../../data/jobs/job-queue.ts'
import type { JobRow } from '../../data/jobs/job-store.ts'
import {
  archivePath,
  FAILURE_FILE,
  isTilesIntact,
  type KeptTiles,
  lockPath,
  readFailure,
  readProgress,
  readTilesMeta,
  removeTiles,
  TILES_FILE,
  type TilesFailure,
  tilesFolder,
  writeFailure,
} from './tile-files.ts'

interface TileStatesDeps {
  blobs: Blobs
  changes: Changes
  clock: Clock
  jobs: JobQueue
  log: Logger
}

/** Hears that the tiles of a snapshot were replaced or removed; null if those of any snapshot may have been. */
type ReplacementListener = (snapshot: string | null) => void

interface CachedState {
  state: TilesRecord | null
  readAt: number
  /** Whether no job was there to build the tiles. */
  isIdle: boolean
}

/** How long a state that was read from disk holds; a build in this process is noticed at once. */
const STATE_MS = 2000
/** The same for a version in a bucket without a job that builds its tiles. */
const IDLE_STATE_MS = 30_000
const MAX_STATES = 10_000
const MAX_READY = 1000
const MAX_BUILT = 100_000
/** Whether a version can have tiles: it has something that a tile can show, and was not published without tiles. */
export function hasTiles({ manifest }: Pick<ListedVersion, 'manifest'>): boolean {
  return manifest.located > 0 && manifest.tiles !== false
}

/** The tiles of versions: whether they are built, under way, waiting or failed, and where the archives are. */
export class TileStates {
  readonly #parts: TileStatesDeps
  /** The progress of builds in this process, by snapshot. */
  readonly #progress = new Map<string, number>()
  readonly #ready = new BoundedCache<string, KeptTiles>(MAX_READY)
  /** The deepest zoom of the archives that are there: far more of these fit in memory than descriptions. */
  readonly #maxZooms = new BoundedCache<string, number>(MAX_BUILT)
  readonly #states = new BoundedCache<string, CachedState>(MAX_STATES)

  readonly #replacementListeners: ReplacementListener[] = []
  /** Number of replacements heard of: what was read before this number increased must not be cached. */
  #replacements = 0

  constructor(parts: TileStatesDeps) {
    this.#parts = parts
    parts.changes.listen((subject, id) => {
      if (subject === 'tiles') this.#applyReplacement(id)
      else if (subject === 'everything') this.#applyReplacement(null)
    })
  }

  /** For caches of what is in archives. */
  onReplacement(listener: ReplacementListener): void {
    this.#replacementListeners.push(listener)
  }

  /** Returns when no process uses what it knew about the tiles of the snapshot. */
  async announceReplacement(snapshot: string): Promise<void> {
    await this.#parts.changes.commit(async (_tx, changed) => changed('tiles', snapshot))
  }

  /** Null for a version that has no tiles: a table, or one that was published without. */
  stateOf(version: ListedVersion): MaybePromise<TilesRecord | null> {
    if (!hasTiles(version)) return null
    const { snapshot } = version
    const progress = this.#progress.get(snapshot)
    if (progress !== undefined) return buildingState(progress)
    const maxZoom = this.#maxZooms.get(snapshot)
    if (maxZoom !== undefined) return readyState({ maxZoom })
    const recent = this.#states.get(snapshot)
    if (recent && performance.now() - recent.readAt < STATE_MS) return recent.state
    return this.#readCurrentState(version, recent)
  }

  async #readCurrentState(
    version: ListedVersion,
    recent: CachedState | undefined,
  ): Promise<TilesRecord | null> {
    const { blobs, jobs } = this.#parts
    const { snapshot } = version
    const job = (await jobs.open('tiles')).get(snapshot)
    const readAt = performance.now()
    // With a bucket, each look takes two requests. Without a job, little can have changed.
    if (recent?.isIdle && !job && blobs.derived && readAt - recent.readAt < IDLE_STATE_MS) return recent.state
    const state = await this.#readState(version, job)
    this.#states.set(snapshot, { state, readAt, isIdle: !job })
    return state
  }

  async #readState(version: ListedVersion, job: JobRow | undefined): Promise<TilesRecord> {
    const { blobs } = this.#parts
    const { snapshot } = version
    const built = await this.find(version)
    if (built) return readyState(built)
    if (job) return job.state === 'running' ? buildingState(progressOf(job)) : PENDING
    const folder = await blobs.localFolder(snapshot)
    if (isLocked(folder)) return buildingState(await readProgress(folder))
    const failure = await this.readFailure(snapshot)
    if (failure !== null) return { state: 'failed', progress: null, maxZoom: null, reason: failure.reason }
    return PENDING
  }

  /** The finished archive, without building it. */
  async find(version: ListedVersion): Promise<KeptTiles | undefined> {
    if (!hasTiles(version)) return undefined
    const { snapshot } = version
    const ready = this.#ready.get(snapshot)
    if (ready) return ready
    const { blobs } = this.#parts
    const replacements = this.#replacements
    const built = blobs.derived
      ? (await blobs.derived.find<KeptTiles>(snapshot, TILES_FILE))?.meta
      : await readTilesMeta(await blobs.localFolder(snapshot))
    if (built && replacements === this.#replacements) this.setReady(snapshot, built)
    return built
  }

  /** The archive as a file to send, if it is there and has the bytes that were built; a damaged one is removed. */
  async findFile(version: Version): Promise<StoredFile | undefined> {
    if (!hasTiles(version)) return undefined
    const { blobs } = this.#parts
    if (blobs.derived) {
      const stored = await blobs.derived.find<KeptTiles>(version.snapshot, TILES_FILE)
      return stored && storedFile(stored)
    }
    const folder = await blobs.localFolder(version.snapshot)
    const path = archivePath(folder)
    const built = await this.find(version)
    const file = built && (await stat(path).catch(() => undefined))
    if (!built || !file) return undefined
    if (await isTilesIntact(folder, built)) return localFile(path, { ...built, stamp: stampOf(file) })
    await this.discardDamaged(version, built)
    return undefined
  }

  /**
   * Removes an archive that turned out to be damaged or gone, so that it is built again. An archive that another
   * process has built meanwhile, or is building, stays.
   */
  async discardDamaged({ snapshot, table, version }: Version, damaged: KeptTiles): Promise<void> {
    const { blobs, log } = this.#parts
    this.#forget(snapshot)
    if (blobs.derived) {
      const stored = await blobs.derived.find<KeptTiles>(snapshot, TILES_FILE)
      if (stored && stored.meta.sha256 !== damaged.sha256) return
      await blobs.derived.remove(snapshot, TILES_FILE)
    } else if (!(await removeDamaged(await blobs.localFolder(snapshot)))) return
    log.error({ table, version }, 'Tiles are damaged: they are built again.')
    await this.announceReplacement(snapshot)
  }

  /** The archive as it is on disk now: another process may have removed or built it. */
  findAgain(version: Version): Promise<KeptTiles | undefined> {
    this.#forget(version.snapshot)
    return this.find(version)
  }

  /** Whether the archive was there when it was last looked for. */
  wasFound(snapshot: string): boolean {
    return this.#maxZooms.has(snapshot)
  }

  setReady(snapshot: string, built: KeptTiles): void {
    this.#ready.set(snapshot, built)
    this.#maxZooms.set(snapshot, built.maxZoom)
  }

  /** Sets the progress of a build in this process. */
  setProgress(snapshot: string, share: number): void {
    this.#progress.set(snapshot, share)
  }

  /** Ends the state "building" of a build in this process. */
  endProgress(snapshot: string): void {
    this.#progress.delete(snapshot)
    this.expire(snapshot)
  }

  /** The state is read again when it is next asked for. */
  expire(snapshot: string): void {
    this.#states.delete(snapshot)
  }

  /** Records it in the state of the tiles, so that servers do not build them again by themselves. */
  async recordFailure({ snapshot }: Version, reason: string): Promise<void> {
    const { blobs, clock } = this.#parts
    this.#states.delete(snapshot)
    const failure = { reason, at: clock().toISOString() }
    if (blobs.derived) return blobs.derived.writeNote(snapshot, FAILURE_FILE, failure)
    const folder = await blobs.localFolder(snapshot)
    if (existsSync(folder)) await writeFailure(folder, failure)
  }

  async readFailure(snapshot: string): Promise<TilesFailure | null> {
    const { blobs } = this.#parts
    if (blobs.derived) return blobs.derived.readNote<TilesFailure>(snapshot, FAILURE_FILE)
    return readFailure(await blobs.localFolder(snapshot))
  }

  #forget(snapshot: string): void {
    this.#ready.delete(snapshot)
    this.#maxZooms.delete(snapshot)
    this.#states.delete(snapshot)
    this.#parts.blobs.derived?.forget(snapshot, TILES_FILE)
  }

  #applyReplacement(snapshot: string | null): void {
    this.#replacements++
    if (snapshot === null) {
      for (const [one] of this.#maxZooms.entries()) this.#forget(one)
      this.#states.clear()
    } else this.#forget(snapshot)
    for (const listener of this.#replacementListeners) listener(snapshot)
  }
}

const PENDING: TilesRecord = { state: 'pending', progress: null, maxZoom: null, reason: null }

function buildingState(progress: number): TilesRecord {
  return { state: 'building', progress, maxZoom: null, reason: null }
}

function readyState({ maxZoom }: Pick<KeptTiles, 'maxZoom'>): TilesRecord {
  return { state: 'ready', progress: null, maxZoom, reason: null }
}

function progressOf({ progress }: JobRow): number {
  return (JSON.parse(progress ?? '{}') as { progress?: number }).progress ?? 0
}

/** Removes an archive that does not have the bytes that were built. Returns false if there is nothing to remove. */
async function removeDamaged(folder: string): Promise<boolean> {
  const unlock = existsSync(tilesFolder(folder)) ? tryLock(lockPath(folder)) : null
  if (!unlock) return false
  try {
    const built = await readTilesMeta(folder)
    if (built && (await isTilesIntact(folder, built))) return false
    await removeTiles(folder)
    return true
  } finally {
    unlock()
  }
}

function isLocked(folder: string): boolean {
  if (!existsSync(lockPath(folder))) return false
  const unlock = tryLock(lockPath(folder))
  unlock?.()
  return unlock === null
}
