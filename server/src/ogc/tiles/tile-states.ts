import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { TilesRecord } from '@wayleave/contract/records'
import type { BuiltTiles } from '@wayleave/geodata/tiles'
import type { Blobs } from '../../blobs/blobs.ts'
import { BoundedCache } from '../../caching/bounded-cache.ts'
import type { ListedVersion, Version } from '../../catalog/dataset.ts'
import { stampOf } from '../../catalog/file-stamp.ts'
import type { Clock } from '../../clock.ts'
import { localFile, storedFile } from '../../downloads/built-file.ts'
import type { StoredFile } from '../../downloads/export-file.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { JobRow } from '../../jobs/job-store.ts'
import { tryLock } from '../../locks/file-lock.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import {
  archivePath,
  FAILURE_FILE,
  isTilesIntact,
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
  clock: Clock
  jobs: JobQueue
}

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
/** Whether a version has something that a tile can show. */
export function hasTiles({ manifest }: Pick<ListedVersion, 'manifest'>): boolean {
  return manifest.located > 0 && manifest.tiles !== false
}

/** The tiles of versions: whether they are built, under way, waiting or failed, and where the archives are. */
export class TileStates {
  readonly #parts: TileStatesDeps
  /** The progress of builds in this process, by snapshot. */
  readonly #progress = new Map<string, number>()
  readonly #ready = new BoundedCache<string, BuiltTiles>(MAX_READY)
  /** The deepest zoom of the archives that are there: far more of these fit in memory than descriptions. */
  readonly #maxZooms = new BoundedCache<string, number>(MAX_BUILT)
  readonly #states = new BoundedCache<string, CachedState>(MAX_STATES)

  constructor(parts: TileStatesDeps) {
    this.#parts = parts
  }

  /** Null for a version that has no tiles: a table, or one that was published without. */
  stateOf(version: ListedVersion): MaybePromise<TilesRecord | null> {
    if (version.manifest.located === 0) return null
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

  async #readState(version: ListedVersion, job: JobRow | undefined): Promise<TilesRecord | null> {
    const { blobs } = this.#parts
    const { snapshot } = version
    const built = await this.find(version)
    if (built) return readyState(built)
    if (job) return job.state === 'running' ? buildingState(progressOf(job)) : PENDING
    const folder = await blobs.localFolder(snapshot)
    if (isLocked(folder)) return buildingState(await readProgress(folder))
    const failure = await this.readFailure(snapshot)
    if (failure !== null) return { state: 'failed', progress: null, maxZoom: null, reason: failure.reason }
    return hasTiles(version) ? PENDING : null
  }

  /** The finished archive, without building it. */
  async find({ snapshot }: ListedVersion): Promise<BuiltTiles | undefined> {
    const ready = this.#ready.get(snapshot)
    if (ready) return ready
    const { blobs } = this.#parts
    const built = blobs.derived
      ? (await blobs.derived.find<BuiltTiles>(snapshot, TILES_FILE))?.meta
      : await readTilesMeta(await blobs.localFolder(snapshot))
    if (built) this.setReady(snapshot, built)
    return built
  }

  /** The archive as a file to send, if it is there and has the bytes that were built; a damaged one is removed. */
  async findFile(version: Version): Promise<StoredFile | undefined> {
    const { blobs } = this.#parts
    if (blobs.derived) {
      const stored = await blobs.derived.find<BuiltTiles>(version.snapshot, TILES_FILE)
      return stored && storedFile(stored)
    }
    const folder = await blobs.localFolder(version.snapshot)
    const path = archivePath(folder)
    const built = await this.find(version)
    const file = built && (await stat(path).catch(() => undefined))
    if (!built || !file) return undefined
    if (await isTilesIntact(folder, built)) return localFile(path, { ...built, stamp: stampOf(file) })
    await this.discard(version)
    return undefined
  }

  /** Forgets an archive that turned out to be damaged or gone, and removes it: it is built again. */
  async discard(version: Version): Promise<void> {
    const folder = await this.#parts.blobs.localFolder(version.snapshot)
    this.#forget(version.snapshot)
    this.#states.delete(version.snapshot)
    await this.#parts.blobs.derived?.remove(version.snapshot, TILES_FILE)
    const unlock = existsSync(tilesFolder(folder)) ? tryLock(lockPath(folder)) : null
    if (!unlock) return
    try {
      await removeTiles(folder)
    } finally {
      unlock()
    }
  }

  /** The archive as it is on disk now: another process may have removed or built it. */
  findAgain(version: Version): Promise<BuiltTiles | undefined> {
    this.#forget(version.snapshot)
    return this.find(version)
  }

  /** Whether the archive was there when it was last looked for. */
  wasFound(snapshot: string): boolean {
    return this.#maxZooms.has(snapshot)
  }

  setReady(snapshot: string, built: BuiltTiles): void {
    this.#ready.set(snapshot, built)
    this.#maxZooms.set(snapshot, built.maxZoom)
  }

  /** Of a build in this process. */
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

  /** So that the state of the tiles shows it, and servers do not build them again by themselves. */
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
  }
}

const PENDING: TilesRecord = { state: 'pending', progress: null, maxZoom: null, reason: null }

function buildingState(progress: number): TilesRecord {
  return { state: 'building', progress, maxZoom: null, reason: null }
}

function readyState({ maxZoom }: Pick<BuiltTiles, 'maxZoom'>): TilesRecord {
  return { state: 'ready', progress: null, maxZoom, reason: null }
}

function progressOf({ progress }: JobRow): number {
  return (JSON.parse(progress ?? '{}') as { progress?: number }).progress ?? 0
}

function isLocked(folder: string): boolean {
  if (!existsSync(lockPath(folder))) return false
  const unlock = tryLock(lockPath(folder))
  unlock?.()
  return unlock === null
}
