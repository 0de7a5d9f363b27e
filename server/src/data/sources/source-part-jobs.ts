import { chmod } from 'node:fs/promises'
import {
  CompileDiskFullError,
  CompileInterruptedError,
  CompileKilledError,
  SourceError,
} from '@wayleave/geodata/compile'
import type { Logger } from 'pino'
import type { ControlDatabase } from '../../base/database/open.ts'
import { Problem } from '../../base/problem.ts'
import { JobObsoleteError, RetryLaterError } from '../jobs/job-errors.ts'
import { type JobHandler, MAX_ATTEMPTS, type RunningJob } from '../jobs/job-runner.ts'
import type { JobRow } from '../jobs/job-store.ts'
import type { SharedStaging } from '../publishing/shared-staging/shared-staging.ts'
import { type PartSource, parseSourcePart } from '../publishing/shared-staging/source-part-request.ts'
import type { UploadFiles } from '../publishing/upload-jobs/upload-files.ts'
import type { SourceRuns } from './source-runs.ts'

interface SourcePartJobsDeps {
  database: ControlDatabase
  shared: SharedStaging
  uploads: UploadFiles
  runs: SourceRuns
  log: Logger
}

/** Stages parts of large sources. */
export class SourcePartJobs implements JobHandler {
  readonly #deps: SourcePartJobsDeps

  constructor(deps: SourcePartJobsDeps) {
    this.#deps = deps
  }

  /** Whether a part is one of a source. */
  isFor(row: JobRow): boolean {
    return parseSourcePart(row) !== null
  }

  async run(job: RunningJob): Promise<void> {
    const { database, shared } = this.#deps
    const { row, signal } = job
    const request = parseSourcePart(row)
    if (!request) throw new Problem('build-failed', 'The job cannot be read.')
    await shared
      .stagePart(request, job, (folder, names) => this.#fetch(request.source, { folder, names, signal }))
      .catch((error: unknown) => Promise.reject(signal.aborted ? error : asJobError(error, row)))
    await job.finish(database.db)
  }

  /** The worker that publishes reads the source itself then, and reports what is wrong with it. */
  problemOf(error: unknown, { id, table_name: table }: JobRow): { detail: string } {
    if (error instanceof JobObsoleteError || error instanceof SourceError) return { detail: error.message }
    this.#deps.log.error({ err: error, job: id, table }, `A part of the source of ${table} was not staged.`)
    return { detail: 'A part could not be staged. The log of the server says why.' }
  }

  tooManyAttempts(): Error {
    return new SourceError(`Workers were ended ${MAX_ATTEMPTS} times while they staged a part of the source.`)
  }

  /** The path of the source on this machine, with the files that the part reads. */
  async #fetch(
    source: PartSource,
    { folder, names, signal }: { folder: string; names: string[]; signal: AbortSignal },
  ): Promise<string> {
    const { uploads, runs } = this.#deps
    if ('table' in source) return runs.fetchPart(source, { folder, names, signal })
    const path = await uploads.fetch(source.upload, source.bytes)
    if (path === null) throw new JobObsoleteError('The upload that the part belongs to was removed.')
    // Otherwise the user of the sandbox would read a copy. The folder is only for the service.
    await chmod(path, 0o644)
    return path
  }
}

function asJobError(error: unknown, { attempts }: JobRow): unknown {
  if (error instanceof CompileInterruptedError) return new RetryLaterError(error.message, { cause: error })
  // Another worker may have what this one lacks.
  const isOfWorker = error instanceof CompileKilledError || error instanceof CompileDiskFullError
  if (isOfWorker && attempts < MAX_ATTEMPTS)
    return new RetryLaterError(error.message, { cause: error, countsAsAttempt: true })
  return error
}
