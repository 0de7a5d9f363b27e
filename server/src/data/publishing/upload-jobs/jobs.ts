import { isJobEnded } from '@wayleave/contract/job-states'
import type { JobRecord } from '@wayleave/contract/records'
import {
  CompileDiskFullError,
  CompileInterruptedError,
  CompileKilledError,
  InvalidSourceError,
  SchemaMismatchError,
  SourceError,
} from '@wayleave/geodata/compile'
import type { Logger } from 'pino'
import { type Clock, DAY, HOUR, MINUTE, plus } from '../../../base/clock.ts'
import type { Changes } from '../../../base/database/changes/changes.ts'
import type { ControlDatabase } from '../../../base/database/open.ts'
import type { Origin } from '../../../base/events/events.ts'
import { newId } from '../../../base/id.ts'
import { notFound, Problem } from '../../../base/problem.ts'
import { RetryLaterError } from '../../jobs/job-errors.ts'
import { jobFields } from '../../jobs/job-fields.ts'
import { PRIORITIES, queueOf } from '../../jobs/job-kinds.ts'
import type { JobMessages } from '../../jobs/job-messages.ts'
import { type JobHandler, type JobRunner, MAX_ATTEMPTS, type RunningJob } from '../../jobs/job-runner.ts'
import {
  deleteEndedJobsBefore,
  insertJob,
  type JobListing,
  type JobRow,
  listEndedSince,
  listJobs,
  listOpenJobs,
  readJob,
  waitingJob,
} from '../../jobs/job-store.ts'
import type { Publishing } from '../publishing.ts'
import type { SharedStaging } from '../shared-staging/shared-staging.ts'
import { cancelJob, requireJob } from './cancel-job.ts'
import { jobRecord } from './job-record.ts'
import { type JobRequest, parseJobRequest, printJobRequest } from './job-request.ts'
import type { UploadFiles } from './upload-files.ts'
import { type ArrivingUpload, UploadQuota } from './upload-quota.ts'

const KEEP = 30 * DAY
/** How long the file of an inspection can be published, and how much later it is removed. */
const KEEP_INSPECTED = HOUR
const GRACE = 10 * MINUTE

type JobFailure = NonNullable<JobRecord['problem']>

interface JobDeps {
  database: ControlDatabase
  changes: Changes
  publishing: Publishing
  messages: JobMessages
  runner: JobRunner
  clock: Clock
  log: Logger
  nodeId: string
  uploads: UploadFiles
  maxUploadBytes: number
  shared: SharedStaging
}

/**
 * Publishing jobs: uploads on their way to a version. A job ends in the transaction that makes its version
 * visible, or by a cancellation. Until then any worker can start it from its row and its upload. The jobs of one
 * table run in their order.
 */
export class Jobs implements JobHandler {
  readonly #parts: JobDeps
  readonly #quota: UploadQuota

  constructor(parts: JobDeps) {
    const { database, maxUploadBytes, clock } = parts
    const keptSince = () => plus(clock(), -KEEP_INSPECTED - GRACE).toISOString()
    this.#parts = parts
    this.#quota = new UploadQuota({ database, maxUploadBytes, keptSince })
  }

  /** Throws if the publisher has as many uploads as it may; `ownerId` is null for the operator. */
  beginUpload(ownerId: string | null): Promise<ArrivingUpload> {
    return this.#quota.begin(ownerId)
  }

  /**
   * A new path for an upload. The file is removed when its job ends or, before the job starts, by its writer.
   */
  uploadPath(jobId: string): Promise<string> {
    return this.#parts.uploads.newPath(jobId)
  }

  newId(): string {
    return newId('job')
  }

  /**
   * Once this returns, the upload will be published or the job will state why not, even if this process dies.
   */
  async start(id: string, request: JobRequest, kind: 'publish' | 'inspect' = 'publish'): Promise<JobRecord> {
    const { database, clock, nodeId, messages, uploads } = this.#parts
    const { table, ownerId = null } = request.publish
    const newRow = waitingJob({
      id,
      kind,
      table_name: table,
      // Inspections need no order.
      queue: queueOf(kind, kind === 'publish' ? table : id),
      priority: PRIORITIES[kind],
      actor: request.origin.actor,
      owner_id: ownerId,
      node_id: nodeId,
      request: printJobRequest(request),
      at: clock().toISOString(),
    })
    let row = newRow
    try {
      const ownBytes = request.upload === undefined ? request.uploadBytes : 0
      if (ownBytes > 0) await uploads.store(id, ownBytes)
      if (ownerId === null) await insertJob(database.db, row)
      else row = await this.#insertOwned(newRow, ownerId, ownBytes)
    } catch (error) {
      // The row may exist nevertheless if only the response was lost; then a worker runs the job.
      const isAbsent = await readJob(database.db, id).then(
        (job) => job === undefined,
        () => false,
      )
      // In the background: the bucket may be why this failed.
      if (isAbsent) void this.#noteFailure(id, uploads.removeSoon(id))
      throw error
    }
    await messages.sendWaiting().catch(() => {})
    return jobRecord(row)
  }

  /** Inserts a job of a publisher, unless it has as many as it may. */
  #insertOwned(newRow: JobRow, ownerId: string, bytes: number): Promise<JobRow> {
    return this.#parts.database.db.transaction().execute(async (tx) => {
      const others = await this.#quota.require(tx, ownerId, bytes)
      const row = others === 0 ? newRow : { ...newRow, priority: PRIORITIES.furtherUploads }
      await insertJob(tx, row)
      return row
    })
  }

  /** `isVisible` decides whether the job exists for the caller. */
  async find(
    id: string,
    isVisible: (job: { table: string; ownerId: string | null }) => boolean = () => true,
  ): Promise<JobRecord> {
    const row = await requireJob(this.#parts, id)
    if (!isVisible({ table: row.table_name, ownerId: row.owner_id })) throw notFound('such job')
    const [job] = await this.#visible([row])
    return job!
  }

  async list(listing: JobListing): Promise<JobRecord[]> {
    return this.#visible(await listJobs(this.#parts.database.db, listing))
  }

  /** Once a caller knows that a job is done, every node has what it published. */
  async #visible(jobs: Parameters<typeof jobRecord>[0][]): Promise<JobRecord[]> {
    if (jobs.some(({ state }) => state === 'done')) await this.#parts.changes.appliedEverywhere()
    return jobs.map(jobRecord)
  }

  /**
   * The file of an inspection that ended within the last hour. Throws 404 if the job does not exist for the caller, and
   * 409 if the file is not kept any more.
   */
  async inspectedUpload(
    id: string,
    isVisible: (job: { table: string; ownerId: string | null }) => boolean,
  ): Promise<{ upload: string; uploadBytes: number; file: string }> {
    const row = await requireJob(this.#parts, id)
    if (row.kind !== 'inspect' || !isVisible({ table: row.table_name, ownerId: row.owner_id }))
      throw notFound('such inspection')
    const request = parseJobRequest(row.request)
    const isKept = row.updated_at > plus(this.#parts.clock(), -KEEP_INSPECTED).toISOString()
    if (request === null || row.state !== 'done' || !isKept)
      throw new Problem(
        'conflict',
        row.state === 'done'
          ? 'The file of the inspection is not kept any more. Send it again.'
          : `The inspection is ${row.state}.`,
      )
    const { uploadBytes, upload = id, publish } = request
    return { upload, uploadBytes, file: publish.file }
  }

  /** If this process runs the job, nothing of it is left when this returns. */
  async cancel(origin: Origin, id: string): Promise<JobRecord> {
    const { messages, runner } = this.#parts
    const { kind, state } = await requireJob(this.#parts, id)
    const cancelled = await cancelJob(this.#parts, origin, id)
    // The worker of a running job counts it when its attempt has ended.
    if (state === 'waiting') runner.finished[kind].cancelled++
    await messages.sendCancelled(id).catch(() => {})
    await messages.sendEnded(id).catch(() => {})
    await runner.abort(id)
    return cancelled
  }

  /** Removes the uploads and stages that no job needs. */
  async sweep({ isStart = false } = {}): Promise<void> {
    await this.#sweepUploads(isStart && this.#parts.database.kind === 'sqlite' ? 0 : DAY)
    await this.#parts.shared.sweep()
  }

  /** Deletes jobs that ended long ago. `now` is the housekeeping's clock. */
  async deleteOld(now: Date): Promise<void> {
    await deleteEndedJobsBefore(this.#parts.database, plus(now, -KEEP).toISOString())
  }

  async run(job: RunningJob): Promise<void> {
    const { publishing, database, uploads, shared } = this.#parts
    const { row, signal, onProgress } = job
    const request = parseJobRequest(row.request)
    const path = request && (await uploads.fetch(request.upload ?? row.id, request.uploadBytes))
    if (request === null || path === null) {
      throw new SourceError('The server stopped, and the file it had received is not whole. Send it again.')
    }
    const { publish, origin } = request
    const retried = (error: unknown) => {
      // The process that compiles was asked to stop, probably together with this one.
      if (error instanceof CompileInterruptedError) throw new RetryLaterError(error.message, { cause: error })
      if (error instanceof CompileKilledError && row.attempts < MAX_ATTEMPTS)
        throw new RetryLaterError(error.message, { cause: error, countsAsAttempt: true })
      throw error
    }
    if (row.kind === 'inspect') {
      const { description: _, ownerId: _owner, deleteMissing: _missing, ...inspected } = publish
      const inspection = await publishing
        .inspect({ ...inspected, path }, { onProgress, signal })
        .catch(retried)
      return job.finish(database.db, { report: JSON.stringify(inspection) })
    }
    const kept = await uploads.keepStages(row.id)
    const published = await publishing
      .publish({ ...publish, path }, origin, {
        onProgress,
        signal,
        resumeFolder: kept?.folder,
        compile: shared.compileFor(job, { upload: request.upload ?? row.id, bytes: request.uploadBytes }),
        alongside: (tx, report) =>
          job.finish(tx, { report: JSON.stringify(report), version: report.version }),
      })
      .catch(retried)
      .finally(() => kept?.release())
    // A dry run makes no version, so there is no transaction to end the job in.
    if (publish.dryRun) await job.finish(database.db, { report: JSON.stringify(published) })
  }

  problemOf(error: unknown, row: JobRow): JobFailure {
    // Its message is for the publisher too.
    if (error instanceof Problem && error.code === 'disk-full') return { detail: error.detail }
    if (!(error instanceof SourceError))
      this.#parts.log.error({ ...jobFields(row), err: error }, `Job ${row.id} failed.`)
    if (error instanceof InvalidSourceError) {
      return { detail: error.message, problems: error.problems, problemCount: error.problemCount }
    }
    if (error instanceof SchemaMismatchError) return { detail: error.message, misfits: error.misfits }
    if (error instanceof SourceError || error instanceof CompileDiskFullError)
      return { detail: error.message }
    return { detail: 'Something failed on our side. The log has it under the job’s id.' }
  }

  tooManyAttempts(): SourceError {
    return new SourceError(
      `The server was ended ${MAX_ATTEMPTS} times while it published the file, so it is not tried again. The file may need more memory than the server has.`,
    )
  }

  async onEnd({ id, kind, state }: JobRow): Promise<void> {
    // What was inspected may be published later.
    if (kind === 'inspect' && state === 'done') return
    await this.#noteFailure(id, this.#parts.uploads.remove(id))
  }

  /**
   * Removes uploads that no job needs. An upload that is still arriving has no job yet, so an upload without
   * a job is removed only after it was idle for `idleMs`.
   */
  async #sweepUploads(idleMs: number): Promise<void> {
    const { database, clock, uploads } = this.#parts
    const before = plus(clock(), -idleMs)
    const inUse = await this.#uploadsInUse()
    // The files' times are read before the jobs: if a job begins in between, its upload is then seen as needed.
    for (const { jobId, modifiedAt } of await uploads.list()) {
      const job = await readJob(database.db, jobId)
      const isIdle = idleMs === 0 || modifiedAt < before
      const isUnwanted = job ? isJobEnded(job.state) && !inUse.has(jobId) : isIdle
      if (isUnwanted) await uploads.remove(jobId)
    }
  }

  /** The uploads of inspections that may still be published, and those that open jobs take. */
  async #uploadsInUse(): Promise<Set<string>> {
    const { database, clock } = this.#parts
    const since = plus(clock(), -KEEP_INSPECTED - GRACE).toISOString()
    const jobs = [
      ...(await listEndedSince(database.db, 'inspect', since)),
      ...(await listOpenJobs(database.db, 'inspect')),
      ...(await listOpenJobs(database.db, 'publish')),
    ]
    return new Set(jobs.map(({ id, request }) => parseJobRequest(request)?.upload ?? id))
  }

  /** An upload that cannot be removed now is removed by a later sweep. */
  async #noteFailure(jobId: string, removal: Promise<void>): Promise<void> {
    await removal.catch((error: unknown) =>
      this.#parts.log.warn({ err: error }, `The upload of ${jobId} could not be removed.`),
    )
  }
}
