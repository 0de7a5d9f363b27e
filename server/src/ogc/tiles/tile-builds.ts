import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TilesRecord } from '@wayleave/contract/records'
import { ExportError } from '@wayleave/geodata/exports'
import { makeFolderDurably } from '@wayleave/geodata/snapshot'
import {
  type BuiltTiles,
  buildTilesInChildProcess,
  ProcessEndedError,
  type TileOptions,
} from '@wayleave/geodata/tiles'
import type { Logger } from 'pino'
import type { Blobs } from '../../blobs/blobs.ts'
import { BoundedCache } from '../../caching/bounded-cache.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Dataset, Version } from '../../catalog/dataset.ts'
import { stampOf } from '../../catalog/file-stamp.ts'
import { localFile, storedFile } from '../../downloads/built-file.ts'
import type { StoredFile } from '../../downloads/export-file.ts'
import { Durations } from '../../http/observability/durations.ts'
import { tryLock } from '../../locks/file-lock.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import {
  archivePath,
  isTilesIntact,
  lockPath,
  readFailure,
  readProgress,
  readTilesMeta,
  removeProgress,
  removeTiles,
  TILES_FILE,
  tilesFolder,
  writeFailure,
  writeProgress,
  writeTilesMeta,
} from './tile-files.ts'

export interface TileBuildsDeps {
  blobs: Blobs
  catalog: Catalog
  log: Logger
  /** The deepest zoom that may be built. */
  maxZoom: number
}

interface Build {
  version: Version
  description: Pick<Dataset, 'table' | 'title' | 'description' | 'attribution'>
  progress: number
  onProgress?: (share: number) => void
}

/** How often a node that is not building asks whether another one is done. */
const LOOK_AGAIN_MS = 200
/** How long a state that was read from disk holds; a build in this process is noticed at once. */
const STATE_MS = 2000
const MAX_STATES = 10_000
/** A process that is killed, for example because the machine ran out of memory, is started again this often. */
const MAX_ATTEMPTS = 3
/** How often other processes are told the progress. */
const TELL_EVERY_MS = 2000

/** Whether a version has something that a tile can show. */
export function hasTiles({ manifest }: Pick<Version, 'manifest'>): boolean {
  return manifest.located > 0 && manifest.tiles !== false
}

/**
 * Builds tiles one after the other, each in a child process of low priority. Among all nodes a snapshot has one
 * build at a time, by a lock in its folder; the system releases the lock with the process that holds it, so a
 * build that was cut off is begun again.
 */
export class TileBuilds {
  /** For the metrics: builds by their result, waiting and running ones, and their durations. */
  readonly finished = { done: 0, failed: 0 }
  readonly durations = new Durations()
  readonly #parts: TileBuildsDeps
  readonly #builds = new Map<string, Build>()
  readonly #running = new Map<string, Promise<BuiltTiles>>()
  readonly #ready = new Map<string, BuiltTiles>()
  /** Snapshots whose build failed in this process: not tried again before the next start. */
  readonly #failed = new Map<string, string>()
  readonly #states = new BoundedCache<string, { state: TilesRecord | null; readAt: number }>(MAX_STATES)
  readonly #stopping = new AbortController()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: TileBuildsDeps) {
    this.#parts = parts
  }

  get waiting(): number {
    return this.#running.size
  }

  /** Null for a version that has no tiles: a table, or one that was published without. */
  stateOf(version: Version): MaybePromise<TilesRecord | null> {
    if (version.manifest.located === 0) return null
    const { snapshot } = version
    const build = this.#builds.get(snapshot)
    if (build) return { state: 'building', progress: build.progress, maxZoom: null, reason: null }
    const built = this.#ready.get(snapshot)
    if (built) return readyState(built)
    const recent = this.#states.get(snapshot)
    if (recent && performance.now() - recent.readAt < STATE_MS) return recent.state
    return this.#readState(version).then((state) => {
      this.#states.set(snapshot, { state, readAt: performance.now() })
      return state
    })
  }

  async #readState(version: Version): Promise<TilesRecord | null> {
    const { snapshot } = version
    const built = await this.find(version)
    if (built) return readyState(built)
    if (this.#running.has(snapshot)) return PENDING
    const folder = await this.#parts.blobs.localFolder(snapshot)
    if (isLocked(folder))
      return { state: 'building', progress: await readProgress(folder), maxZoom: null, reason: null }
    const reason = this.#failed.get(snapshot) ?? (await readFailure(folder))
    if (reason !== null) return { state: 'failed', progress: null, maxZoom: null, reason }
    return hasTiles(version) ? PENDING : null
  }

  /** The finished archive, without building it. */
  async find({ snapshot }: Version): Promise<BuiltTiles | undefined> {
    const known = this.#ready.get(snapshot)
    if (known) return known
    const { blobs } = this.#parts
    const built = blobs.derived
      ? (await blobs.derived.find<BuiltTiles>(snapshot, TILES_FILE))?.meta
      : await readTilesMeta(await blobs.localFolder(snapshot))
    if (built) this.#ready.set(snapshot, built)
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
    this.#ready.delete(version.snapshot)
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

  /** Builds in the background, unless it is done, under way, or failed before. */
  request(version: Version, dataset: Build['description']): void {
    if (this.#failed.has(version.snapshot) || this.#stopping.signal.aborted) return
    this.build(version, dataset).catch(() => {})
  }

  /** Resolves when the archive is there. Concurrent calls share one build (single-flight). */
  build(
    version: Version,
    description: Build['description'],
    onProgress?: (share: number) => void,
  ): Promise<BuiltTiles> {
    const { snapshot } = version
    const present = this.#running.get(snapshot)
    if (present) return present
    const turn = () => this.#buildInTurn({ version, description, progress: 0, onProgress })
    const running = this.#queue.then(turn, turn).finally(() => this.#running.delete(snapshot))
    this.#running.set(snapshot, running)
    this.#queue = running.catch(() => {})
    return running
  }

  /** Requests the tiles of all current versions that were published to have some and have none yet. */
  async sweep(): Promise<void> {
    for (const dataset of await this.#parts.catalog.all()) {
      if (dataset.manifest.tiles !== true || dataset.manifest.located === 0) continue
      if (this.#running.has(dataset.snapshot) || this.#failed.has(dataset.snapshot)) continue
      if (!(await this.find(dataset))) this.request(dataset, dataset)
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#queue.catch(() => {})
  }

  async #buildInTurn(build: Build): Promise<BuiltTiles> {
    const { version } = build
    const signal = this.#stopping.signal
    const folder = await this.#parts.blobs.localFolder(version.snapshot)
    signal.throwIfAborted()
    await makeFolderDurably(tilesFolder(folder))
    for (;;) {
      const present = await this.find(version)
      if (present) return present
      const unlock = tryLock(lockPath(folder))
      if (unlock) {
        try {
          return (await this.find(version)) ?? (await this.#make(build, folder))
        } finally {
          unlock()
        }
      }
      await sleep(LOOK_AGAIN_MS, undefined, { signal })
    }
  }

  async #make(build: Build, folder: string): Promise<BuiltTiles> {
    const { version, description, onProgress } = build
    const { log, maxZoom } = this.#parts
    const { table, title, description: text, attribution } = description
    const end = this.durations.start()
    this.#builds.set(version.snapshot, build)
    let toldAt = performance.now()
    let telling: Promise<void> = Promise.resolve()
    try {
      await removeTiles(folder)
      const options = {
        table,
        title,
        description: text,
        attribution,
        maxZoom,
        signal: this.#stopping.signal,
        onProgress: (share: number) => {
          build.progress = share
          onProgress?.(share)
          if (performance.now() - toldAt < TELL_EVERY_MS) return
          toldAt = performance.now()
          // Only for the eyes of other processes.
          telling = writeProgress(folder, share).catch(() => {})
        },
      }
      const { blobs } = this.#parts
      const built = await blobs.withFiles(version.snapshot, version.manifest, () =>
        this.#buildRepeatedly(folder, options, version),
      )
      await blobs.derived?.keep(version.snapshot, TILES_FILE, built)
      await writeTilesMeta(folder, built)
      this.#ready.set(version.snapshot, built)
      this.finished.done++
      log.info(
        { table, version: version.version, maxZoom: built.maxZoom },
        `The tiles of ${table} are built.`,
      )
      return built
    } catch (error) {
      if (this.#stopping.signal.aborted || !existsSync(folder)) throw error
      this.finished.failed++
      const reason = reasonOf(error)
      this.#failed.set(version.snapshot, reason)
      this.#states.delete(version.snapshot)
      await writeFailure(folder, reason).catch(() => {})
      log.error({ err: error, table, version: version.version }, `The tiles of ${table} could not be built.`)
      throw error
    } finally {
      end()
      this.#builds.delete(version.snapshot)
      await telling
      await removeProgress(folder)
    }
  }

  async #buildRepeatedly(
    folder: string,
    options: TileOptions,
    { manifest, table }: Version,
  ): Promise<BuiltTiles> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await buildTilesInChildProcess(folder, archivePath(folder), options, manifest)
      } catch (error) {
        const isLast = attempt === MAX_ATTEMPTS || this.#stopping.signal.aborted
        if (!(error instanceof ProcessEndedError) || isLast) throw error
        this.#parts.log.warn(
          { err: error, table, attempt },
          `The process that builds tiles of ${table} ended.`,
        )
      }
    }
  }
}

const PENDING: TilesRecord = { state: 'pending', progress: null, maxZoom: null, reason: null }

function readyState({ maxZoom }: BuiltTiles): TilesRecord {
  return { state: 'ready', progress: null, maxZoom, reason: null }
}

/** A sentence without anything of the inside; the log has the rest. */
function reasonOf(error: unknown): string {
  if (error instanceof ExportError && error.code === 'disk-full') return 'The disk is full.'
  if (error instanceof Error && error.name === 'DamagedSnapshotError') return 'The data is damaged.'
  return 'The build failed. The log of the server says why.'
}

function isLocked(folder: string): boolean {
  if (!existsSync(lockPath(folder))) return false
  const unlock = tryLock(lockPath(folder))
  unlock?.()
  return unlock === null
}
