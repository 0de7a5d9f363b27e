import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolderDurably, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import {
  type BuiltTiles,
  buildPartInChildProcess,
  joinPartsInChildProcess,
  partsKey,
  planPartsInChildProcess,
  sharesOfParts,
} from '@wayleave/geodata/tiles'
import type { Logger } from 'pino'
import { SECOND } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { randomBase62 } from '../../base/id.ts'
import type { ObjectInfo } from '../../base/storage/object-store.ts'
import type { Blobs } from '../../data/blobs/blobs.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import { requireBuilt, requireStillThere } from '../../data/downloads/exports/export-job.ts'
import { JobObsoleteError, RetryLaterError } from '../../data/jobs/job-errors.ts'
import type { JobQueue } from '../../data/jobs/job-queue.ts'
import type { RunningJob } from '../../data/jobs/job-runner.ts'
import { deleteEndedParts, listParts } from '../../data/jobs/part-store.ts'
import { archivePath, SCRATCH_FOLDER, tilesFolder } from './tile-files.ts'
import { type PartJobRequest, parsePartJob } from './tile-job.ts'
import { DamagedStageError, TileStage } from './tile-stage.ts'

/** Fewer parts are not worth it. */
const MIN_PARTS = 4
const POLL_EVERY = SECOND
const PLAN = 'plan'

interface PartedBuildsDeps {
  database: ControlDatabase
  blobs: Blobs
  catalog: Catalog
  jobs: JobQueue
  log: Logger
  /** The deepest zoom that may be built. */
  maxZoom: number
  /** The bytes in the pack of a part. */
  partBytes: number
}

type Description = Pick<Dataset, 'table' | 'title' | 'description' | 'attribution'>

interface BuildOptions extends Pick<RunningJob, 'row' | 'signal' | 'beside' | 'resetAttempts'> {
  onProgress(share: number): void
}

/**
 * Builds the tiles of a large version in parts, which are jobs of their own: any worker takes one, and puts what it has
 * made into the stage. One worker makes the plan, waits for the parts and joins them. The archive is the same, byte for
 * byte, as that of one machine. What is in the stage outlives every worker.
 */
export class PartedBuilds {
  readonly #deps: PartedBuildsDeps
  /** Local snapshots whose files this process has verified for a part. */
  readonly #verified = new Set<string>()

  constructor(deps: PartedBuildsDeps) {
    this.#deps = deps
  }

  /** Whether the tiles of a version are built in parts: with SQLite there are no other workers. */
  isFor({ manifest }: Version): boolean {
    const { database, partBytes } = this.#deps
    const bytes = manifest.files[SNAPSHOT_FILES.pack]?.bytes ?? 0
    return database.kind === 'postgres' && bytes > partBytes * (MIN_PARTS - 1)
  }

  /** Builds the archive in its place, with the help of all workers. */
  async build(
    version: Version,
    description: Description,
    { beside, onProgress, ...job }: BuildOptions,
  ): Promise<BuiltTiles> {
    const { snapshot, manifest, table } = version
    const { signal } = job
    const { stage, key } = await this.#stageOf(version)
    await stage.removeOthers()
    // Those of a build that has failed must not fail this one.
    await deleteEndedParts(this.#deps.database.db, { table, snapshot })
    for (;;) {
      try {
        const shares = await this.#withScratch(snapshot, async (folder) =>
          sharesOfParts(await this.#plan(version, stage, folder, signal)),
        )
        // For hours, perhaps, for which nothing is kept on this disk.
        const staged = await beside(() =>
          this.#waitForParts(version, { stage, key, shares, onProgress, ...job }),
        )
        return await this.#withScratch(snapshot, async (folder) => {
          const planPath = await stage.fetch(staged.get(PLAN)!, folder)
          const parts: string[] = []
          for (const part of shares.keys()) parts.push(await stage.fetch(staged.get(String(part))!, folder))
          const path = archivePath(await this.#deps.blobs.localFolder(snapshot))
          return joinPartsInChildProcess({ manifest }, { planPath, parts, path }, description, { signal })
        })
      } catch (error) {
        if (!(error instanceof DamagedStageError)) throw error
        this.#deps.log.warn({ err: error, table }, `A part of the tiles of ${table} is made again.`)
      }
    }
  }

  /** Builds a part, and puts it into the stage. */
  async buildPart(version: Version, request: PartJobRequest, job: RunningJob): Promise<void> {
    const { snapshot, manifest, table } = version
    const { blobs } = this.#deps
    const { stage, key } = await this.#stageOf(version, request)
    if (key !== request.key)
      throw new RetryLaterError(
        'The part was planned by another version of the program, which has to build it.',
      )
    const { part } = request
    const staged = await this.#requireWanted(snapshot, stage)
    if (staged.has(String(part))) return
    await this.#withScratch(snapshot, async (folder) => {
      const planPath = await stage.fetch(staged.get(PLAN)!, folder)
      const path = join(folder, 'part')
      const files = blobs.files(snapshot, manifest)
      const verify = !this.#verified.has(snapshot)
      const built = await buildPartInChildProcess(
        { files, manifest, table },
        { planPath, part, path, verify },
        { signal: job.signal, onProgress: (progress) => job.onProgress({ progress }) },
      )
      this.#verified.add(snapshot)
      await this.#requireWanted(snapshot, stage)
      await stage.add(String(part), { path, ...built })
    })
  }

  /** Removes what a build has left that has ended: its stage and its jobs, which end. */
  async clear(version: Version): Promise<void> {
    const { stage } = await this.#stageOf(version)
    await stage.remove()
    const { table, snapshot } = version
    await deleteEndedParts(this.#deps.database.db, { table, snapshot })
  }

  /** What is in the stage, unless the build has ended, for example because it was cancelled. */
  async #requireWanted(snapshot: string, stage: TileStage): Promise<Map<string, ObjectInfo>> {
    const staged = await stage.list()
    if (!staged.has(PLAN) || !(await this.#deps.jobs.open('tiles')).has(snapshot))
      throw new JobObsoleteError('The build that the part belongs to has ended.')
    return staged
  }

  async #stageOf(
    { snapshot, manifest, table }: Version,
    limits: Pick<PartJobRequest, 'maxZoom' | 'partBytes'> = this.#deps,
  ): Promise<{ stage: TileStage; key: string }> {
    const { maxZoom, partBytes } = limits
    const key = await partsKey({ manifest, table }, { maxZoom, partBytes })
    return { stage: new TileStage(this.#deps.blobs.objects, snapshot, key), key }
  }

  /** The path of the plan. It is made if it is not in the stage. */
  async #plan(version: Version, stage: TileStage, folder: string, signal: AbortSignal): Promise<string> {
    const { snapshot, manifest, table } = version
    const { blobs, maxZoom, partBytes } = this.#deps
    const staged = (await stage.list()).get(PLAN)
    if (staged) return stage.fetch(staged, folder)
    const path = join(folder, PLAN)
    const files = blobs.files(snapshot, manifest)
    const built = await planPartsInChildProcess(
      { files, manifest, table },
      path,
      { maxZoom, partBytes },
      { signal },
    )
    await stage.add(PLAN, { path, ...built })
    return path
  }

  /** Adds a job for each part that is not finished, and waits until all are. */
  async #waitForParts(
    version: Version,
    parts: Pick<BuildOptions, 'row' | 'signal' | 'onProgress' | 'resetAttempts'> & {
      stage: TileStage
      key: string
      shares: readonly number[]
    },
  ): Promise<Map<string, ObjectInfo>> {
    const { database, catalog } = this.#deps
    const { stage, shares, signal, onProgress, resetAttempts } = parts
    const { table, snapshot } = version
    let staged = new Map<string, ObjectInfo>()
    let ended = -1
    for (;;) {
      // Before the stage is listed: the result of a job that is done is there.
      const rows = await listParts(database.db, { table, snapshot })
      const nowEnded = rows.filter(({ state }) => state !== 'waiting' && state !== 'running').length
      const open = new Map<number, number>()
      for (const row of rows) {
        if (row.state === 'failed') requireBuilt(row)
        const part = parsePartJob(row)?.part
        const { progress = 0 } = JSON.parse(row.progress ?? '{}') as { progress?: number }
        if (part !== undefined && (row.state === 'waiting' || row.state === 'running'))
          open.set(part, progress)
      }
      const missing = [...shares.keys()].filter((part) => !staged.has(String(part)))
      if (nowEnded !== ended || missing.some((part) => !open.has(part))) {
        staged = await stage.list()
        if (!staged.has(PLAN)) throw new DamagedStageError('The plan is missing.')
        if (ended >= 0) await resetAttempts()
        ended = nowEnded
      }
      const left = missing.filter((part) => !staged.has(String(part)))
      if (left.length === 0) return staged
      await requireStillThere(catalog, version)
      for (const part of left) if (!open.has(part)) await this.#add(version, parts, part)
      onProgress(1 - left.reduce((sum, part) => sum + shares[part]! * (1 - (open.get(part) ?? 0)), 0))
      await sleep(POLL_EVERY, undefined, { signal })
    }
  }

  async #add(
    { table, snapshot, version }: Version,
    { key, row }: { key: string; row: BuildOptions['row'] },
    part: number,
  ): Promise<void> {
    const { jobs, maxZoom, partBytes } = this.#deps
    const request: PartJobRequest = { version, key, part, maxZoom, partBytes }
    const name = `${snapshot} ${part}`
    await jobs.add({ kind: 'part', table, queue: name, key: name, request, priority: row.priority })
  }

  /** A hidden folder, which the sweep removes if this process does not. */
  async #withScratch<T>(snapshot: string, work: (folder: string) => Promise<T>): Promise<T> {
    const folder = join(
      tilesFolder(await this.#deps.blobs.localFolder(snapshot)),
      `${SCRATCH_FOLDER}${randomBase62(12)}`,
    )
    await makeFolderDurably(folder)
    try {
      return await work(folder)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}
