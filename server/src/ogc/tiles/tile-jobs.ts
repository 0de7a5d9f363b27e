import { ExportError, ProcessEndedError } from '@wayleave/geodata/exports'
import { DamagedSnapshotError } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import type { ControlDatabase } from '../../base/database/open.ts'
import { Problem } from '../../base/problem.ts'
import type { Catalog } from '../../data/catalog/catalog.ts'
import type { Version } from '../../data/catalog/dataset.ts'
import type { SnapshotHealth } from '../../data/catalog/snapshot-health.ts'
import { CopyDiscarded, VersionMissing } from '../../data/catalog/version-unreadable.ts'
import {
  type BuildProblem,
  problemOfBuild,
  requireStillThere,
  requireVersion,
} from '../../data/downloads/exports/export-job.ts'
import { JobObsoleteError, RetryLaterError } from '../../data/jobs/job-errors.ts'
import { type JobHandler, MAX_ATTEMPTS, type RunningJob } from '../../data/jobs/job-runner.ts'
import type { JobRow } from '../../data/jobs/job-store.ts'
import type { TileBuilds } from './tile-builds.ts'
import { parseTileJob } from './tile-job.ts'
import type { TileStates } from './tile-states.ts'

export interface TileJobsDeps {
  database: ControlDatabase
  catalog: Catalog
  health: SnapshotHealth
  states: TileStates
  builds: TileBuilds
  log: Logger
}

/** Builds the vector tiles of versions. */
export class TileJobs implements JobHandler {
  readonly #parts: TileJobsDeps

  constructor(parts: TileJobsDeps) {
    this.#parts = parts
  }

  async run(job: RunningJob): Promise<void> {
    const { row, signal, finish, onProgress } = job
    const { database, catalog, builds, health } = this.#parts
    const version = await this.#versionOf(row)
    const dataset = await catalog.find(row.table_name)
    const commit = (makeVisible: () => Promise<void>) =>
      database.db.transaction().execute(async (tx) => {
        await finish(tx)
        await makeVisible()
      })
    const report = (progress: number) => onProgress({ progress })
    await builds
      .buildHere(version, dataset, { signal, commit, onProgress: report, job })
      .catch(async (error: unknown) => {
        if (!signal.aborted) await requireStillThere(catalog, version)
        if (error instanceof DamagedSnapshotError) throw asJobError(await health.problemOf(version, error))
        // The process was killed, perhaps because the machine ran out of memory.
        if (error instanceof ProcessEndedError && row.attempts < MAX_ATTEMPTS)
          throw new RetryLaterError(error.message, { cause: error, countsAsAttempt: true })
        throw error
      })
  }

  problemOf(error: unknown, { id, table_name: table }: JobRow): BuildProblem {
    if (error instanceof JobObsoleteError) return problemOfBuild(error)
    this.#parts.log.error({ err: error, job: id, table }, `The tiles of ${table} could not be built.`)
    return problemOfTiles(error)
  }

  tooManyAttempts(): Error {
    return new Error(`The server was ended ${MAX_ATTEMPTS} times while it built the tiles.`)
  }

  async onEnd(row: JobRow): Promise<void> {
    // A version that was removed meanwhile needs no tiles.
    const version = await this.#versionOf(row).catch(() => null)
    if (!version) return
    await this.#parts.builds.clearParts(version)
    if (row.state !== 'failed') return
    const { detail } = JSON.parse(row.problem ?? '{}') as Partial<BuildProblem>
    await this.#parts.states.recordFailure(version, detail ?? 'The build failed.')
  }

  async #versionOf(row: JobRow): Promise<Version> {
    const stored = parseTileJob(row)
    if (!stored) throw new Problem('build-failed', 'The job cannot be read.')
    return requireVersion(this.#parts.catalog, row.table_name, stored.version)
  }
}

/** A sentence without anything internal; the log has the rest. */
export function problemOfTiles(error: unknown): BuildProblem {
  if (error instanceof ExportError && error.code === 'disk-full')
    return { code: 'disk-full', detail: 'The disk is full.' }
  if (error instanceof Problem && error.code === 'data-damaged')
    return { code: 'data-damaged', detail: 'The data is damaged.' }
  // What a part has failed with.
  if (error instanceof Problem) return { code: error.code, detail: error.detail }
  return { code: 'build-failed', detail: 'The build failed. The log of the server says why.' }
}

/** A version that is not in the storage has its tiles built once it is there. */
export function asJobError(problem: unknown): unknown {
  if (problem instanceof VersionMissing) return new JobObsoleteError(problem.detail)
  if (problem instanceof CopyDiscarded) return new RetryLaterError(problem.detail, { cause: problem })
  return problem
}
