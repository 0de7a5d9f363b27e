import { ExportError, ProcessEndedError } from '@wayleave/geodata/exports'
import { DamagedSnapshotError } from '@wayleave/geodata/snapshot'
import { Problem } from '../../base/problem.ts'
import type { Version } from '../../data/catalog/dataset.ts'
import {
  type BuildProblem,
  requireStillThere,
  requireVersion,
} from '../../data/downloads/exports/export-job.ts'
import { JobObsoleteError, RetryLaterError } from '../../data/jobs/job-errors.ts'
import { type JobHandler, MAX_ATTEMPTS, type RunningJob } from '../../data/jobs/job-runner.ts'
import type { JobRow } from '../../data/jobs/job-store.ts'
import { DamagedStageError } from '../../data/jobs/part-stage.ts'
import type { PartedBuilds } from './parted-builds.ts'
import { parsePartJob } from './tile-job.ts'
import { asJobError, problemOfTiles, type TileJobsDeps } from './tile-jobs.ts'

interface PartJobsDeps extends Pick<TileJobsDeps, 'database' | 'catalog' | 'health' | 'log'> {
  parted: PartedBuilds
}

/** Builds parts of the vector tiles of large versions. */
export class PartJobs implements JobHandler {
  readonly #deps: PartJobsDeps

  constructor(deps: PartJobsDeps) {
    this.#deps = deps
  }

  async run(job: RunningJob): Promise<void> {
    const { database, catalog, parted } = this.#deps
    const { row } = job
    const request = parsePartJob(row)
    if (!request) throw new Problem('build-failed', 'The job cannot be read.')
    const version = await requireVersion(catalog, row.table_name, request.version)
    await parted
      .buildPart(version, request, job)
      .catch(async (error: unknown) => Promise.reject(await this.#asJobError(error, version, job)))
    await job.finish(database.db)
  }

  problemOf(error: unknown, { id, table_name: table }: JobRow): BuildProblem {
    if (!(error instanceof JobObsoleteError))
      this.#deps.log.error(
        { err: error, job: id, table },
        `A part of the tiles of ${table} could not be built.`,
      )
    return problemOfTiles(error)
  }

  tooManyAttempts(): Error {
    return new Error(`Workers were ended ${MAX_ATTEMPTS} times while they built a part of the tiles.`)
  }

  async #asJobError(error: unknown, version: Version, { row, signal }: RunningJob): Promise<unknown> {
    const { catalog, health } = this.#deps
    if (signal.aborted || error instanceof JobObsoleteError) return error
    await requireStillThere(catalog, version)
    if (error instanceof DamagedSnapshotError) return asJobError(await health.problemOf(version, error))
    // The process was killed, or the disk of this worker is full: another worker may have what it needs.
    const isOfWorker =
      error instanceof ProcessEndedError || (error instanceof ExportError && error.code === 'disk-full')
    if (isOfWorker && row.attempts < MAX_ATTEMPTS)
      return new RetryLaterError(error.message, { cause: error, countsAsAttempt: true })
    // The plan is made again.
    if (error instanceof DamagedStageError) return new JobObsoleteError(error.message, { cause: error })
    return error
  }
}
