import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isJobEnded } from '@wayleave/contract/job-states'
import {
  CompileKilledError,
  type CompileOptions,
  type CompileProgress,
  type PlannedParts,
  RemainingTime,
  SourceError,
} from '@wayleave/geodata/compile'
import type { Logger } from 'pino'
import type { DataWork } from '../../../base/data-work.ts'
import type { ControlDatabase } from '../../../base/database/open.ts'
import type { ObjectInfo, ObjectStore } from '../../../base/storage/object-store.ts'
import { version as programVersion } from '../../../base/version.ts'
import { JobObsoleteError, RetryLaterError } from '../../jobs/job-errors.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { RunningJob } from '../../jobs/job-runner.ts'
import { countLiveWorkers, type JobRow, readJob } from '../../jobs/job-store.ts'
import { DamagedStageError, PartStage, PLAN } from '../../jobs/part-stage.ts'
import { deleteEndedParts } from '../../jobs/part-store.ts'
import { MIN_PARTS, waitForParts } from '../../jobs/wait-for-parts.ts'
import { sourceState } from '../publishing-checks.ts'
import type { Staging } from '../staging.ts'
import { type PartSource, parseSourcePart, type SourcePartRequest } from './source-part-request.ts'
import { addFile, fetchReadable } from './stage-files.ts'

/** The stages of all jobs, in the bucket or in the folder that all workers share. */
const STAGES = 'stages/'
/** The features of a Parquet file are about so many times as large as the file: eight with 20 million points. */
const FEATURES_OF_PARQUET = 8
const PARQUET = 'PAR1'

interface SharedStagingDeps {
  database: ControlDatabase
  jobs: JobQueue
  /** The bucket, or the folder that all workers share. */
  objects: ObjectStore
  staging: Staging
  work: DataWork
  log: Logger
  /** The bytes of features in a part. */
  partBytes: number
  /** Whether this process stages parts too: without it, a job could wait for parts that nobody takes. */
  runsParts: boolean
  settings: Pick<CompileOptions, 'limits' | 'gdal' | 'memoryMegabytes'>
}

/** What one job needs to have its source staged by all workers. */
interface SharedJob {
  job: RunningJob
  source: PartSource
  options: CompileOptions
  stage: PartStage
  key: string
  bytes: number
  signal: AbortSignal
  onProgress: (progress: CompileProgress) => void
}

/** The source is to be read by one worker, which reports what is wrong with it, if anything is. */
class NotSharedError extends Error {
  override name = 'NotSharedError'
}

/**
 * Reads large sources of Parquet in parts, which are jobs of their own: any worker takes one, stages its rows as one
 * machine would, and puts the result into the stage. The worker that publishes makes the plan, waits for the parts and
 * compiles what they have staged, to the same snapshot. What is in the stage outlives every worker.
 */
export class SharedStaging {
  readonly #deps: SharedStagingDeps

  constructor(deps: SharedStagingDeps) {
    this.#deps = deps
  }

  /** Compiles the source of a job: with other workers if it is large and there are some. */
  compileFor(job: RunningJob, source: PartSource): DataWork['compile'] {
    return async (options, onProgress = () => {}, signal = job.signal) => {
      const { work, database, log } = this.#deps
      const alone = () => work.compile(options, onProgress, signal)
      const { bytes } = await sourceState(options.path, options.parts)
      if (!(await this.#isShareable(options, bytes))) return alone()
      const { id, table_name: table } = job.row
      const key = keyOf(options, source, this.#deps.partBytes)
      const stage = this.#stageOf(id, key)
      // What other workers have finished is not done again, even if none is left.
      const isBegun = (await stage.list()).has(PLAN)
      if (!isBegun && (await countLiveWorkers(database, 'part')) < 2) return alone()
      try {
        return await this.#compileTogether({ job, source, options, stage, key, bytes, signal, onProgress })
      } catch (error) {
        if (!(error instanceof NotSharedError)) throw error
        log.info({ table, job: id }, `The source of ${table} is read by one worker: ${error.message}`)
      }
      await this.clear(job.row)
      return alone()
    }
  }

  /**
   * Stages a part. `fetch` returns the path of the source, with those of its files that have these names; a source that
   * is one file has an empty name.
   */
  async stagePart(
    request: SourcePartRequest,
    job: RunningJob,
    fetch: (folder: string, names: string[]) => Promise<string>,
  ): Promise<void> {
    const { staging, work, settings } = this.#deps
    const { part, file } = request
    if (request.program !== programVersion)
      throw new RetryLaterError(
        'The part was planned by another version of the program, which has to stage it.',
      )
    const stage = this.#stageOf(request.job, request.key)
    const staged = await this.#requireWanted(request, stage)
    if (staged.has(String(part))) return
    const scratch = staging.begin(job.row.table_name)
    try {
      const plan = await fetchReadable(stage, staged.get(PLAN)!, scratch.folder)
      const { parts } = JSON.parse(await readFile(plan, 'utf8')) as PlannedParts
      const path = await fetch(scratch.folder, parts[part]!.names)
      const options = {
        ...{ ...settings, path, file, folder: join(scratch.folder, 'staged') },
        staged: { plan, parts: [], readingMs: 0 },
      }
      const onProgress = ({ bytesRead, totalBytes }: CompileProgress) =>
        job.onProgress({ progress: totalBytes ? Math.min(1, bytesRead / totalBytes) : 0 })
      const result = await work.stagePart(options, part, onProgress, job.signal)
      await this.#requireWanted(request, stage)
      await addFile(stage, String(part), result)
    } finally {
      await scratch.end()
    }
  }

  /** Removes what a job has left that has ended: its stage, and the jobs of its parts, which end. */
  async clear({ id, table_name: table }: JobRow): Promise<void> {
    const { database, objects } = this.#deps
    if (database.kind !== 'postgres') return
    await new PartStage(objects, `${STAGES}${id}/`, '').remove()
    await deleteEndedParts(database.db, { table, name: id })
  }

  /** Removes the stages of jobs that have ended otherwise, for example cancelled after their worker had died. */
  async sweep(): Promise<void> {
    const { database, objects } = this.#deps
    if (database.kind !== 'postgres') return
    for (const id of await objects.listFolders(STAGES)) {
      const row = await readJob(database.db, id)
      if (row && !isJobEnded(row.state)) continue
      await new PartStage(objects, `${STAGES}${id}/`, '').remove()
      if (row) await deleteEndedParts(database.db, { table: row.table_name, name: id })
    }
  }

  /** With SQLite there are no other workers. A revision depends on the version before, and is compiled twice. */
  async #isShareable(options: CompileOptions, bytes: number): Promise<boolean> {
    const { database, runsParts, partBytes } = this.#deps
    const isLarge = bytes > (partBytes / FEATURES_OF_PARQUET) * (MIN_PARTS - 1)
    const isPossible = database.kind === 'postgres' && runsParts && !options.revision && !options.parts
    return isLarge && isPossible && (await isParquet(options.path))
  }

  async #compileTogether(shared: SharedJob): ReturnType<DataWork['compile']> {
    const { job, options, stage, signal, onProgress } = shared
    const { database, work, log } = this.#deps
    const { id, table_name: table } = job.row
    const began = performance.now()
    await stage.removeOthers()
    // Those of an attempt that has failed must not fail this one.
    await deleteEndedParts(database.db, { table, name: id })
    const folder = join(dirname(options.folder), 'parts')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    for (;;) {
      try {
        const { parts } = await this.#plan(shared, folder)
        // Not thrown before the job has its place again, in which it reads the source alone.
        const staged = await job.beside(() =>
          this.#waitForParts(shared, parts).catch((error: unknown) => {
            if (error instanceof NotSharedError) return error
            throw error
          }),
        )
        if (staged instanceof NotSharedError) throw staged
        const plan = await fetchReadable(stage, staged.get(PLAN)!, folder)
        const files: string[] = []
        for (const part of parts.keys())
          files.push(await fetchReadable(stage, staged.get(String(part))!, folder))
        // The parts in the stage are what another attempt goes on from.
        const { resume: _, ...own } = options
        const readingMs = performance.now() - began
        return await work.compile({ ...own, staged: { plan, parts: files, readingMs } }, onProgress, signal)
      } catch (error) {
        if (!(error instanceof DamagedStageError)) throw error
        log.warn({ err: error, table }, `A part of the source of ${table} is staged again.`)
      }
    }
  }

  /** The plan. It is made if it is not in the stage. */
  async #plan({ options, stage, signal }: SharedJob, folder: string): Promise<PlannedParts> {
    const { work, partBytes } = this.#deps
    const kept = (await stage.list()).get(PLAN)
    if (kept) return JSON.parse(await readFile(await stage.fetch(kept, folder), 'utf8')) as PlannedParts
    const { resume: _, ...own } = options
    const scratch = join(folder, 'planning')
    const planned = await work
      .planParts({ ...own, folder: scratch }, partBytes / FEATURES_OF_PARQUET, signal)
      .catch((error: unknown) => {
        // Reading it alone fails too, with everything that there is to say.
        if (error instanceof SourceError && !(error instanceof CompileKilledError))
          throw new NotSharedError(error.message)
        throw error
      })
    await rm(scratch, { recursive: true, force: true })
    if (planned === null) throw new NotSharedError('it is not divided.')
    const path = join(folder, 'new-plan')
    await writeFile(path, JSON.stringify(planned))
    await addFile(stage, PLAN, path)
    return planned
  }

  /** Has all parts staged that are not in the stage. */
  #waitForParts(
    { job, source, options, stage, key, bytes, signal, onProgress }: SharedJob,
    planned: PlannedParts['parts'],
  ): Promise<Map<string, ObjectInfo>> {
    const { id, table_name: table } = job.row
    const remaining = new RemainingTime(performance.now())
    const rows = planned.reduce((sum, part) => sum + part.rows, 0)
    return waitForParts(this.#deps, {
      ...{ row: job.row, signal, resetAttempts: () => job.resetAttempts() },
      ...{ table, name: id, stage },
      shares: planned.map((part) => part.rows / rows),
      requestOf: (part): SourcePartRequest => {
        const { file = 'source' } = options
        return { job: id, key, part, source, file, program: programVersion }
      },
      partOf: (row) => parseSourcePart(row)?.part,
      refuse: ({ problem }) => {
        const { detail = '' } = JSON.parse(problem ?? '{}') as { detail?: string }
        throw new NotSharedError(detail)
      },
      onProgress: (share, parts) => {
        const read = { rows: Math.round(rows * share), bytesRead: Math.round(bytes * share) }
        const progress = { phase: 'reading' as const, ...read, totalBytes: bytes, parts }
        onProgress(remaining.at(progress, performance.now()))
      },
    })
  }

  /** What is in the stage, unless the job has ended that the part belongs to, for example because it was cancelled. */
  async #requireWanted({ job: id }: SourcePartRequest, stage: PartStage): Promise<Map<string, ObjectInfo>> {
    const staged = await stage.list()
    const job = await readJob(this.#deps.database.db, id)
    if (!staged.has(PLAN) || !job || isJobEnded(job.state))
      throw new JobObsoleteError('The publishing that the part belongs to has ended.')
    return staged
  }

  #stageOf(jobId: string, key: string): PartStage {
    return new PartStage(this.#deps.objects, `${STAGES}${jobId}/`, key)
  }
}

/** Equal for attempts that divide the same content in the same way and read it with the same options. */
function keyOf(options: CompileOptions, source: PartSource, partBytes: number): string {
  const {
    folder: _,
    path: _path,
    resume: _resume,
    memoryMegabytes: _memory,
    threads: _threads,
    ...reading
  } = options
  return createHash('sha256')
    .update(JSON.stringify([reading, source, partBytes, programVersion]))
    .digest('hex')
    .slice(0, 32)
}

async function isParquet(path: string): Promise<boolean> {
  if ((await stat(path)).isDirectory()) return true
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(PARQUET.length), 0, PARQUET.length, 0)
    return buffer.toString('latin1', 0, bytesRead) === PARQUET
  } finally {
    await handle.close()
  }
}
