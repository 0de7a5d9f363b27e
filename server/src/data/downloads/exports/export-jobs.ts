import { CHANGES_FORMATS, exportFormatsOf, ProcessEndedError } from '@wayleave/geodata/exports'
import type { Logger } from 'pino'
import type { Changes } from '../../../base/database/changes/changes.ts'
import type { ControlDatabase } from '../../../base/database/open.ts'
import { notFound, Problem } from '../../../base/problem.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import type { Version } from '../../catalog/dataset.ts'
import { storeChanges } from '../../catalog/store.ts'
import { JobObsoleteError, RetryLaterError } from '../../jobs/job-errors.ts'
import { type JobHandler, MAX_ATTEMPTS, type RunningJob } from '../../jobs/job-runner.ts'
import type { JobRow } from '../../jobs/job-store.ts'
import {
  type BuildProblem,
  parseExportJob,
  problemOfBuild,
  requireStillThere,
  requireVersion,
} from './export-job.ts'
import type { Exports } from './exports.ts'

interface ExportJobsDeps {
  database: ControlDatabase
  changes: Changes
  catalog: Catalog
  exports: Exports
  log: Logger
}

/** Builds the files that downloads wait for. */
export class ExportJobs implements JobHandler {
  readonly #parts: ExportJobsDeps

  constructor(parts: ExportJobsDeps) {
    this.#parts = parts
  }

  async run({ row, signal, finish, requireHeld }: RunningJob): Promise<void> {
    const { database, catalog, exports } = this.#parts
    const stored = parseExportJob(row)
    if (!stored) throw new Problem('build-failed', 'The job cannot be read.')
    const version = await requireVersion(catalog, row.table_name, stored.version)
    const since =
      stored.since === undefined ? undefined : await requireVersion(catalog, row.table_name, stored.since)
    if (stored.format === 'changes-counts') return this.#count({ row, signal, finish }, version, since!)
    const dataset = await catalog.find(row.table_name)
    const formats = [...exportFormatsOf(version.manifest), ...Object.values(CHANGES_FORMATS)]
    const format = formats.find((entry) => entry.format === stored.format)
    if (!format) throw notFound(`format named "${stored.format}" for this dataset`)
    const commit = (makeVisible: () => Promise<void>) =>
      database.db.transaction().execute(async (tx) => {
        await finish(tx)
        await makeVisible()
      })
    const commitPart = (makeVisible: () => Promise<void>) =>
      database.db.transaction().execute(async (tx) => {
        await requireHeld(tx)
        await makeVisible()
      })
    const request = { dataset, version, format, encoding: stored.encoding, since }
    await exports
      .build(request, { signal, commit, commitPart }, stored.escapeFormulas)
      .catch(async (error: unknown) => {
        if (!signal.aborted) {
          await requireStillThere(catalog, version)
          if (since) await requireStillThere(catalog, since)
        }
        const cause = causeOf(error)
        // The process was killed, perhaps because the machine ran out of memory.
        if (cause instanceof ProcessEndedError && row.attempts < MAX_ATTEMPTS)
          throw new RetryLaterError(cause.message, { cause, countsAsAttempt: true })
        throw error
      })
  }

  async #count(
    { row, signal, finish }: Pick<RunningJob, 'row' | 'signal' | 'finish'>,
    version: Version,
    since: Version,
  ): Promise<void> {
    const { exports, changes } = this.#parts
    const counts = await exports.countChanges({ since, version }, signal).catch((error: unknown) => {
      // Comparing damaged files again would fail again.
      if (error instanceof Problem && error.code === 'data-damaged') return null
      throw error
    })
    await changes.commit(async (tx, changed) => {
      await finish(tx)
      await storeChanges(tx, version, counts && { from: since.version, ...counts })
      changed('dataset', row.table_name)
    })
  }

  problemOf(error: unknown, { id, table_name: table }: JobRow): BuildProblem {
    const problem = problemOfBuild(error)
    if (error instanceof JobObsoleteError) return problem
    this.#parts.log.error({ err: causeOf(error), job: id, table }, `A file of ${table} could not be built.`)
    return problem
  }

  tooManyAttempts({ table_name: table }: JobRow): Problem {
    return new Problem(
      'build-failed',
      `The server was ended several times while it built a file of "${table}".`,
    )
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof Problem ? (error.cause ?? error) : error
}
