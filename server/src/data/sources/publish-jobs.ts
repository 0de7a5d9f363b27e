import { CompileInterruptedError, CompileKilledError } from '@wayleave/geodata/compile'
import { system } from '../../base/events/events.ts'
import { Problem } from '../../base/problem.ts'
import { JobObsoleteError, RetryLaterError } from '../jobs/job-errors.ts'
import { type JobHandler, MAX_ATTEMPTS, type RunningJob } from '../jobs/job-runner.ts'
import type { JobRow } from '../jobs/job-store.ts'
import type { SharedStaging } from '../publishing/shared-staging/shared-staging.ts'
import type { Jobs } from '../publishing/upload-jobs/jobs.ts'
import { parseSourceJob } from './source-job-request.ts'
import type { SourceRuns } from './source-runs.ts'

/** Publishing jobs: uploads, and refreshes from sources. */
export class PublishJobs implements JobHandler {
  readonly #uploads: Jobs
  readonly #runs: SourceRuns
  readonly #shared: SharedStaging

  constructor(uploads: Jobs, runs: SourceRuns, shared: SharedStaging) {
    this.#uploads = uploads
    this.#runs = runs
    this.#shared = shared
  }

  async run(job: RunningJob): Promise<void> {
    const stored = parseSourceJob(job.row.request)
    if (!stored) return this.#uploads.run(job)
    const { row, signal, onProgress, beside } = job
    const origin = { ...system, actor: row.actor }
    const finish: Parameters<SourceRuns['run']>[2]['finish'] = (tx, report) =>
      job.finish(tx, report ? { report: JSON.stringify(report), version: report.version } : {})
    await this.#runs
      .run(stored.source, origin, {
        ...{ isManual: stored.isManual, signal, onProgress, finish, beside },
        share: (lastModified) => this.#shared.compileFor(job, { table: stored.source, lastModified }),
      })
      .catch((error: unknown) => {
        if (error instanceof Problem && error.code === 'not-found')
          throw new JobObsoleteError(`The source of "${stored.source}" was removed.`)
        if (error instanceof CompileInterruptedError)
          throw new RetryLaterError(error.message, { cause: error })
        if (error instanceof CompileKilledError && row.attempts < MAX_ATTEMPTS)
          throw new RetryLaterError(error.message, { cause: error, countsAsAttempt: true })
        throw error
      })
  }

  problemOf(error: unknown, row: JobRow): object {
    return this.#uploads.problemOf(error, row)
  }

  tooManyAttempts(): unknown {
    return this.#uploads.tooManyAttempts()
  }

  async onEnd(row: JobRow): Promise<void> {
    if (!parseSourceJob(row.request)) await this.#uploads.onEnd(row)
    await this.#shared.clear(row)
  }
}
