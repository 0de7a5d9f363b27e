import { rm } from 'node:fs/promises'
import { join } from 'node:path'
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
import type { ControlDatabase } from '../../base/database/open.ts'
import { randomBase62 } from '../../base/id.ts'
import type { ObjectInfo } from '../../base/storage/object-store.ts'
import type { Blobs } from '../../data/blobs/blobs.ts'
import { snapshotKey } from '../../data/blobs/object-keys.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Dataset, Version } from '../../data/catalog/dataset.ts'
import { requireBuilt, requireStillThere } from '../../data/downloads/exports/export-job.ts'
import { JobObsoleteError, RetryLaterError } from '../../data/jobs/job-errors.ts'
import type { JobQueue } from '../../data/jobs/job-queue.ts'
import type { RunningJob } from '../../data/jobs/job-runner.ts'
import { DamagedStageError, PartStage, PLAN } from '../../data/jobs/part-stage.ts'
import { deleteEndedParts } from '../../data/jobs/part-store.ts'
import { MIN_PARTS, waitForParts } from '../../data/jobs/wait-for-parts.ts'
import { archivePath, PARTS_FOLDER, SCRATCH_FOLDER, tilesFolder } from './tile-files.ts'
import { type PartJobRequest, parsePartJob } from './tile-job.ts'

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
    await deleteEndedParts(this.#deps.database.db, { table, name: snapshot })
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
    await deleteEndedParts(this.#deps.database.db, { table, name: snapshot })
  }

  /** What is in the stage, unless the build has ended, for example because it was cancelled. */
  async #requireWanted(snapshot: string, stage: PartStage): Promise<Map<string, ObjectInfo>> {
    const staged = await stage.list()
    if (!staged.has(PLAN) || !(await this.#deps.jobs.open('tiles')).has(snapshot))
      throw new JobObsoleteError('The build that the part belongs to has ended.')
    return staged
  }

  async #stageOf(
    { snapshot, manifest, table }: Version,
    limits: Pick<PartJobRequest, 'maxZoom' | 'partBytes'> = this.#deps,
  ): Promise<{ stage: PartStage; key: string }> {
    const { maxZoom, partBytes } = limits
    const key = await partsKey({ manifest, table }, { maxZoom, partBytes })
    return {
      stage: new PartStage(this.#deps.blobs.objects, snapshotKey(snapshot, `tiles/${PARTS_FOLDER}`), key),
      key,
    }
  }

  /** The path of the plan. It is made if it is not in the stage. */
  async #plan(version: Version, stage: PartStage, folder: string, signal: AbortSignal): Promise<string> {
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

  /** Has all parts built that are not in the stage. */
  #waitForParts(
    version: Version,
    {
      key,
      onProgress,
      ...parts
    }: Pick<BuildOptions, 'row' | 'signal' | 'onProgress' | 'resetAttempts'> & {
      stage: PartStage
      key: string
      shares: readonly number[]
    },
  ): Promise<Map<string, ObjectInfo>> {
    const { catalog, maxZoom, partBytes } = this.#deps
    const { table, snapshot, version: number } = version
    return waitForParts(this.#deps, {
      ...parts,
      ...{ table, name: snapshot },
      requestOf: (part): PartJobRequest => ({ version: number, key, part, maxZoom, partBytes }),
      partOf: (row) => parsePartJob(row)?.part,
      refuse: requireBuilt,
      requireWanted: () => requireStillThere(catalog, version),
      onProgress: (share) => onProgress(share),
    })
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
