import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TilesRecord } from '@wayleave/contract/records'
import { ProcessEndedError } from '@wayleave/geodata/exports'
import { makeFolderDurably } from '@wayleave/geodata/snapshot'
import { type BuiltTiles, buildTilesInChildProcess } from '@wayleave/geodata/tiles'
import type { Logger } from 'pino'
import type { Blobs } from '../../blobs/blobs.ts'
import { BoundedCache } from '../../caching/bounded-cache.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Dataset, ListedVersion, Version } from '../../catalog/dataset.ts'
import { eachBounded } from '../../catalog/each-bounded.ts'
import { stampOf } from '../../catalog/file-stamp.ts'
import type { Clock } from '../../clock.ts'
import { SingleFlights } from '../../concurrency/single-flight.ts'
import { localFile, storedFile } from '../../downloads/built-file.ts'
import type { StoredFile } from '../../downloads/export-file.ts'
import { requireBuilt } from '../../downloads/export-job.ts'
import { escapeHtml } from '../../http/pages/html.ts'
import { PRIORITIES } from '../../jobs/job-kinds.ts'
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
  removeProgress,
  removeTiles,
  TILES_FILE,
  type TilesFailure,
  tilesFolder,
  writeFailure,
  writeProgress,
  writeTilesMeta,
} from './tile-files.ts'
import type { TileJobRequest } from './tile-job.ts'

export interface TileBuildsDeps {
  blobs: Blobs
  catalog: Catalog
  log: Logger
  clock: Clock
  jobs: JobQueue
  /** The deepest zoom that may be built. */
  maxZoom: number
}

/** A finished archive that is not visible yet. */
interface MadeTiles {
  built: BuiltTiles
  /** With a bucket: makes the uploaded archive visible. */
  finish: () => Promise<void>
  /** Ends the state "building". */
  end: () => void
}

interface CachedState {
  state: TilesRecord | null
  readAt: number
  /** Whether no job was there to build the tiles. */
  isIdle: boolean
}

type Description = Pick<Dataset, 'table' | 'title' | 'description' | 'attribution'>

/** How a build in this process reports, ends and becomes visible. */
export interface TileBuildOptions {
  signal: AbortSignal
  onProgress: (share: number) => void
  /** Runs the work that makes the archive visible, unless the build is no longer wanted. */
  commit: (makeVisible: () => Promise<void>) => Promise<void>
}

/** How often a build asks whether another process has released the lock. */
const LOOK_AGAIN_MS = 200
/** How long a state that was read from disk holds; a build in this process is noticed at once. */
const STATE_MS = 2000
/** The same for a version in a bucket without a job that builds its tiles. */
const IDLE_STATE_MS = 30_000
const MAX_STATES = 10_000
const MAX_READY = 1000
const MAX_BUILT = 100_000
/** How many archives a sweep looks for at a time; with a bucket, each is a request. */
const LOOKS_AT_ONCE = 8
/** Without jobs, a process that is killed, for example for lack of memory, is started again this often. */
const MAX_ATTEMPTS = 3
/** How often a command writes its progress for servers to show. */
const TELL_EVERY_MS = 2000

/** Whether a version has something that a tile can show. */
export function hasTiles({ manifest }: Pick<ListedVersion, 'manifest'>): boolean {
  return manifest.located > 0 && manifest.tiles !== false
}

/**
 * The tiles of versions: their state, and their builds. A server adds a job for a build, which any worker runs
 * in a child process of low priority. A lock in the snapshot's folder keeps a command and a worker from building
 * the same; the system releases it with the process that holds it, so a build that was cut off is begun again.
 */
export class TileBuilds {
  readonly #parts: TileBuildsDeps
  readonly #startedAt: string
  /** The progress of builds in this process, by snapshot. */
  readonly #progress = new Map<string, number>()
  readonly #ready = new BoundedCache<string, BuiltTiles>(MAX_READY)
  /** The deepest zoom of the archives that are there: far more of these fit in memory than descriptions. */
  readonly #built = new BoundedCache<string, number>(MAX_BUILT)
  readonly #states = new BoundedCache<string, CachedState>(MAX_STATES)
  readonly #stopping = new AbortController()
  readonly #requests = new SingleFlights<string, void>()

  constructor(parts: TileBuildsDeps) {
    this.#parts = parts
    this.#startedAt = parts.clock().toISOString()
  }

  /** Null for a version that has no tiles: a table, or one that was published without. */
  stateOf(version: ListedVersion): MaybePromise<TilesRecord | null> {
    if (version.manifest.located === 0) return null
    const { snapshot } = version
    const progress = this.#progress.get(snapshot)
    if (progress !== undefined) return buildingState(progress)
    const maxZoom = this.#built.get(snapshot)
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
    const failure = await this.#readFailure(snapshot)
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
    if (built) this.#setReady(snapshot, built)
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

  /** Has the tiles built in the background, unless that is done or under way. */
  request(version: ListedVersion, priority: number = PRIORITIES.requestedTiles): void {
    this.#requests
      .run(version.snapshot, async () => {
        const open = (await this.#parts.jobs.open('tiles')).get(version.snapshot)
        // Each tile of a map that waits asks again, so jobs are only added if there is something to change.
        if (!open || (open.state === 'waiting' && open.priority < priority))
          await this.#add(version, priority)
      })
      .catch((error: unknown) =>
        this.#parts.log.warn(
          { err: error, table: version.table },
          'A build of tiles could not be requested.',
        ),
      )
  }

  /** Has a worker build the archive, and waits until it is there. */
  async build(
    version: Version,
    { maxMs, signal } = { maxMs: Number.POSITIVE_INFINITY, signal: this.#stopping.signal },
  ): Promise<BuiltTiles> {
    const built = await this.find(version)
    if (built) return built
    const job = await this.#add(version, PRIORITIES.export)
    requireBuilt(await this.#parts.jobs.ended(job, { maxMs, signal }))
    this.#states.delete(version.snapshot)
    const result = await this.find(version)
    if (!result) throw new Error(`The tiles of ${version.table} vanished after their build.`)
    return result
  }

  /** Requests the tiles of all current versions that were published to have some and have none yet. */
  async sweep(): Promise<void> {
    const { catalog, jobs } = this.#parts
    const open = await jobs.open('tiles')
    await eachBounded(LOOKS_AT_ONCE, await catalog.all(), async (dataset) => {
      const { snapshot, manifest } = dataset
      if (manifest.tiles !== true || manifest.located === 0 || this.#stopping.signal.aborted) return
      if (open.has(snapshot) || this.#built.has(snapshot) || (await this.find(dataset))) return
      // A build that failed is not repeated by itself, except once after a server has started.
      const failure = await this.#readFailure(snapshot)
      if (failure === null || failure.at < this.#startedAt) this.request(dataset, PRIORITIES.tiles)
    })
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#requests.settled()
  }

  /** Builds in this process for a job. Returns at once if the archive is there. */
  async buildHere(version: Version, description: Description, options: TileBuildOptions): Promise<void> {
    const { signal, commit, onProgress } = options
    await this.#withLock(version, signal, async (folder) => {
      if (await this.#readAgain(version)) return commit(async () => {})
      const made = await this.#make(version, folder, description, { signal, onProgress })
      try {
        await commit(() => this.#keep(version, folder, made))
      } finally {
        made.end()
      }
    })
  }

  /** Builds in this process for a command, which has no job: a process that is killed is started again. */
  async buildNow(
    version: Version,
    description: Description,
    show: (share: number) => void,
  ): Promise<BuiltTiles> {
    const { log } = this.#parts
    const signal = this.#stopping.signal
    return this.#withLock(version, signal, async (folder) => {
      const present = await this.#readAgain(version)
      if (present) return present
      let toldAt = performance.now()
      let telling: Promise<void> = Promise.resolve()
      const onProgress = (share: number) => {
        show(share)
        if (performance.now() - toldAt < TELL_EVERY_MS) return
        toldAt = performance.now()
        telling = writeProgress(folder, share).catch(() => {})
      }
      try {
        for (let attempt = 1; ; attempt++) {
          try {
            const made = await this.#make(version, folder, description, { signal, onProgress })
            made.end()
            await this.#keep(version, folder, made)
            return made.built
          } catch (error) {
            if (!(error instanceof ProcessEndedError) || attempt === MAX_ATTEMPTS) throw error
            log.warn({ err: error, attempt }, `The process that builds tiles of ${version.table} ended.`)
          }
        }
      } catch (error) {
        if (!signal.aborted)
          await this.recordFailure(version, 'The build failed. The log of the server says why.').catch(
            () => {},
          )
        throw error
      } finally {
        await telling
        await removeProgress(folder)
      }
    })
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

  async #readFailure(snapshot: string): Promise<TilesFailure | null> {
    const { blobs } = this.#parts
    if (blobs.derived) return blobs.derived.readNote<TilesFailure>(snapshot, FAILURE_FILE)
    return readFailure(await blobs.localFolder(snapshot))
  }

  #add(version: ListedVersion, priority: number): Promise<JobRow> {
    const { table, snapshot } = version
    const request: TileJobRequest = { version: version.version }
    this.#states.delete(snapshot)
    return this.#parts.jobs.add({ kind: 'tiles', table, snapshot, key: snapshot, request, priority })
  }

  /** Among all processes, one works on the tiles of a snapshot. */
  async #withLock<T>(
    { snapshot }: Version,
    signal: AbortSignal,
    work: (folder: string) => Promise<T>,
  ): Promise<T> {
    const folder = await this.#parts.blobs.localFolder(snapshot)
    signal.throwIfAborted()
    await makeFolderDurably(tilesFolder(folder))
    for (;;) {
      const unlock = tryLock(lockPath(folder))
      if (unlock) {
        try {
          return await work(folder)
        } finally {
          unlock()
        }
      }
      await sleep(LOOK_AGAIN_MS, undefined, { signal })
    }
  }

  #setReady(snapshot: string, built: BuiltTiles): void {
    this.#ready.set(snapshot, built)
    this.#built.set(snapshot, built.maxZoom)
  }

  #forget(snapshot: string): void {
    this.#ready.delete(snapshot)
    this.#built.delete(snapshot)
  }

  /** The archive as it is on disk now: another process may have removed or built it. */
  #readAgain(version: Version): Promise<BuiltTiles | undefined> {
    this.#forget(version.snapshot)
    return this.find(version)
  }

  /** Builds the archive, which is not visible before `#keep`. `end` ends the state "building". */
  async #make(
    version: Version,
    folder: string,
    { table, title, description, attribution }: Description,
    { signal, onProgress }: Pick<TileBuildOptions, 'signal' | 'onProgress'>,
  ): Promise<MadeTiles> {
    const { snapshot, manifest } = version
    const end = () => {
      this.#progress.delete(snapshot)
      this.#states.delete(snapshot)
    }
    this.#progress.set(snapshot, 0)
    try {
      await removeTiles(folder)
      const options = {
        table,
        title,
        description,
        // Readers of PMTiles show it as HTML.
        attribution: escapeHtml(attribution),
        maxZoom: this.#parts.maxZoom,
        signal,
        onProgress: (share: number) => {
          this.#progress.set(snapshot, share)
          onProgress(share)
        },
      }
      const { blobs } = this.#parts
      const built = await blobs.withFiles(snapshot, manifest, () =>
        buildTilesInChildProcess(folder, archivePath(folder), options, manifest),
      )
      const finish = await blobs.derived?.upload(snapshot, TILES_FILE, built)
      return { built, finish: finish ?? (async () => {}), end }
    } catch (error) {
      end()
      throw error
    }
  }

  async #keep(
    { snapshot, table, version }: Version,
    folder: string,
    { built, finish }: MadeTiles,
  ): Promise<void> {
    await finish()
    await writeTilesMeta(folder, built)
    this.#setReady(snapshot, built)
    this.#parts.log.info({ table, version, maxZoom: built.maxZoom }, `The tiles of ${table} are built.`)
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
