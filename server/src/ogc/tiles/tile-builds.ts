import { setTimeout as sleep } from 'node:timers/promises'
import { SingleFlights } from '@wayleave/geodata/base'
import { ProcessEndedError } from '@wayleave/geodata/exports'
import { makeFolderDurably, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { buildTilesInChildProcess } from '@wayleave/geodata/tiles'
import type { Logger } from 'pino'
import { type Clock, DAY, plus } from '../../base/clock.ts'
import { tryLock } from '../../base/locks/file-lock.ts'
import type { Blobs } from '../../data/blobs/blobs.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset, ListedVersion, Version } from '../../data/catalog/dataset.ts'
import { eachBounded } from '../../data/catalog/each-bounded.ts'
import { requireBuilt } from '../../data/downloads/exports/export-job.ts'
import { PRIORITIES } from '../../data/jobs/job-kinds.ts'
import type { JobQueue } from '../../data/jobs/job-queue.ts'
import type { RunningJob } from '../../data/jobs/job-runner.ts'
import type { JobRow } from '../../data/jobs/job-store.ts'
import { escapeHtml } from '../../http/pages/html.ts'
import type { PartedBuilds } from './parted-builds.ts'
import {
  archivePath,
  type KeptTiles,
  lockPath,
  removeLeftovers,
  removeProgress,
  TILES_FILE,
  tilesFolder,
  writeProgress,
  writeTilesMeta,
} from './tile-files.ts'
import type { TileJobRequest } from './tile-job.ts'
import type { TileStates } from './tile-states.ts'

export interface TileBuildsDeps {
  blobs: Blobs
  catalog: Catalog
  log: Logger
  clock: Clock
  jobs: JobQueue
  states: TileStates
  parted: PartedBuilds
  /** The deepest zoom that may be built. */
  maxZoom: number
}

/** A finished archive that is not visible yet. */
interface FinishedBuild {
  built: KeptTiles
  /** With a bucket: makes the uploaded archive visible. */
  finish: () => Promise<void>
  /** Ends the state "building". */
  end: () => void
}

type Description = Pick<Dataset, 'table' | 'title' | 'description' | 'attribution'>

/** How a build in this process reports, ends and becomes visible. */
export interface TileBuildOptions {
  signal: AbortSignal
  onProgress: (share: number) => void
  /** Runs the work that makes the archive visible, unless the build is no longer wanted. */
  commit: (makeVisible: () => Promise<void>) => Promise<void>
  job: RunningJob
}

interface MakeOptions extends Pick<TileBuildOptions, 'signal' | 'onProgress'> {
  rebuild: boolean
  /** Workers share the build of a large version. A command, which has no job, builds alone. */
  job?: RunningJob
}

interface CommandBuildOptions {
  /** Whether tiles that are there are built again. */
  rebuild: boolean
  show: (share: number) => void
}

/** What tiles are built from. */
const READ_FILES = [SNAPSHOT_FILES.pack, SNAPSHOT_FILES.index]
/** How often a build asks whether another process has released the lock. */
const LOCK_POLL_MS = 200
/** Max archives that a sweep looks for at a time; with a bucket, each is a request. */
const MAX_CONCURRENT_LOOKUPS = 8
/** Without jobs, a process that is killed, for example for lack of memory, is started again this often. */
const MAX_ATTEMPTS = 3
/** How often a command writes its progress for servers to show. */
const PROGRESS_EVERY_MS = 2000

/**
 * Builds the tiles of versions. A server adds a job for a build, which any worker runs
 * in a child process of low priority. A lock in the snapshot's folder keeps a command and a worker from building
 * the same; the system releases it with the process that holds it, so a build that was cut off is begun again.
 */
export class TileBuilds {
  readonly #parts: TileBuildsDeps
  readonly #startedAt: string
  readonly #stopping = new AbortController()
  readonly #requests = new SingleFlights<string, void>()

  constructor(parts: TileBuildsDeps) {
    this.#parts = parts
    this.#startedAt = parts.clock().toISOString()
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
  ): Promise<KeptTiles> {
    const built = await this.#parts.states.find(version)
    if (built) return built
    const job = await this.#add(version, PRIORITIES.export)
    requireBuilt(await this.#parts.jobs.ended(job, { maxMs, signal }))
    this.#parts.states.expire(version.snapshot)
    const result = await this.#parts.states.find(version)
    if (!result) throw new Error(`The tiles of ${version.table} vanished after their build.`)
    return result
  }

  /** Requests the tiles of all current versions that were published to have some and have none yet. */
  async sweep(): Promise<void> {
    const { catalog, jobs } = this.#parts
    const open = await jobs.open('tiles')
    await eachBounded(MAX_CONCURRENT_LOOKUPS, await catalog.all(), async (dataset) => {
      const { snapshot, manifest } = dataset
      if (manifest.tiles !== true || manifest.located === 0 || this.#stopping.signal.aborted) return
      if (
        open.has(snapshot) ||
        this.#parts.states.wasFound(snapshot) ||
        (await this.#parts.states.find(dataset))
      )
        return
      // A build that failed is not repeated by itself, except once after a server has started.
      const failure = await this.#parts.states.readFailure(snapshot)
      if (failure === null || failure.at < this.#startedAt) this.request(dataset, PRIORITIES.tiles)
    })
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#requests.settled()
  }

  /** Builds in this process for a job. Returns at once if the archive is there. */
  async buildHere(version: Version, description: Description, options: TileBuildOptions): Promise<void> {
    const { signal, commit, onProgress, job } = options
    await this.#withLock(version, signal, async (folder) => {
      if (await this.#parts.states.findAgain(version)) return commit(async () => {})
      const build = await this.#make(version, folder, description, {
        signal,
        onProgress,
        rebuild: false,
        job,
      })
      try {
        await commit(() => this.#keep(version, folder, build))
      } finally {
        build.end()
      }
    })
  }

  /**
   * Builds in this process for a command, which has no job: a process that is killed is started again. With
   * `rebuild`, an archive that is there is used until the new one replaces it. Servers then use the new one.
   */
  async buildNow(
    version: Version,
    description: Description,
    { rebuild, show }: CommandBuildOptions,
  ): Promise<KeptTiles> {
    const { states } = this.#parts
    const built = await this.#withLock(version, this.#stopping.signal, async (folder) => {
      const existingTiles = rebuild ? undefined : await states.findAgain(version)
      return existingTiles ?? this.#buildForCommand(version, folder, description, { rebuild, show })
    })
    await states.announceReplacement(version.snapshot)
    return built
  }

  async #buildForCommand(
    version: Version,
    folder: string,
    description: Description,
    { rebuild, show }: CommandBuildOptions,
  ): Promise<KeptTiles> {
    const { log, states } = this.#parts
    const { signal } = this.#stopping
    let lastReportAt = performance.now()
    let progressWrite: Promise<void> = Promise.resolve()
    const onProgress = (share: number) => {
      show(share)
      if (performance.now() - lastReportAt < PROGRESS_EVERY_MS) return
      lastReportAt = performance.now()
      progressWrite = writeProgress(folder, share).catch(() => {})
    }
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const build = await this.#make(version, folder, description, { signal, onProgress, rebuild })
          build.end()
          await this.#keep(version, folder, build)
          return build.built
        } catch (error) {
          if (!(error instanceof ProcessEndedError) || attempt === MAX_ATTEMPTS) throw error
          log.warn({ err: error, attempt }, `The process that builds tiles of ${version.table} ended.`)
        }
      }
    } catch (error) {
      if (!signal.aborted)
        await states
          .recordFailure(version, 'The build failed. The log of the server says why.')
          .catch(() => {})
      throw error
    } finally {
      await progressWrite
      await removeProgress(folder)
    }
  }

  /** Removes what a build in parts has left that has ended. */
  async clearParts(version: Version): Promise<void> {
    if (this.#parts.parted.isFor(version)) await this.#parts.parted.clear(version)
  }

  #add(version: ListedVersion, priority: number): Promise<JobRow> {
    const { table, snapshot } = version
    const request: TileJobRequest = { version: version.version }
    this.#parts.states.expire(snapshot)
    return this.#parts.jobs.add({ kind: 'tiles', table, queue: snapshot, key: snapshot, request, priority })
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
      await sleep(LOCK_POLL_MS, undefined, { signal })
    }
  }

  /** Builds the archive, which is not visible before `#keep`. `end` ends the state "building". */
  async #make(
    version: Version,
    folder: string,
    { table, title, description, attribution }: Description,
    { signal, onProgress, rebuild, job }: MakeOptions,
  ): Promise<FinishedBuild> {
    const { snapshot, manifest } = version
    const { blobs, clock, states, parted, maxZoom } = this.#parts
    const end = () => states.endProgress(snapshot)
    states.setProgress(snapshot, 0)
    try {
      await removeLeftovers(folder)
      await blobs.derived?.removeReplaced(snapshot, TILES_FILE, plus(clock(), -DAY))
      // Readers of PMTiles show the attribution as HTML.
      const about = { table, title, description, attribution: escapeHtml(attribution) }
      const show = (share: number) => {
        states.setProgress(snapshot, share)
        onProgress(share)
      }
      const archive =
        job && parted.isFor(version)
          ? await parted.build(version, about, { ...job, signal, onProgress: show })
          : await blobs.withFiles(
              snapshot,
              manifest,
              () => {
                const options = { ...about, maxZoom, signal, onProgress: show }
                return buildTilesInChildProcess(folder, archivePath(folder), options, manifest)
              },
              READ_FILES,
            )
      const built: KeptTiles = rebuild ? { ...archive, isRebuilt: true } : archive
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
    { built, finish }: FinishedBuild,
  ): Promise<void> {
    await finish()
    await writeTilesMeta(folder, built)
    this.#parts.states.setReady(snapshot, built)
    this.#parts.log.info({ table, version, maxZoom: built.maxZoom }, `The tiles of ${table} are built.`)
  }
}
