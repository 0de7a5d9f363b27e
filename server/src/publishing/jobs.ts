import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isJobEnded, type JobRecord } from '@wayleave/contract/records'
import {
  CompileInterruptedError,
  type CompileProgress,
  InvalidSourceError,
  SourceError,
} from '@wayleave/geodata/compile'
import { makeFolderDurably } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import { type Clock, DAY, plus, SECOND } from '../clock.ts'
import { KeyedQueue } from '../concurrency/keyed-queue.ts'
import type { ControlDatabase } from '../database/open.ts'
import type { Origin } from '../events/events.ts'
import { Durations } from '../http/observability/durations.ts'
import { isId, newId } from '../id.ts'
import { cancelJob, requireJob } from './cancel-job.ts'
import { jobRecord } from './job-record.ts'
import { type JobRequest, parseJobRequest, printJobRequest } from './job-request.ts'
import {
  beginAttempt,
  deleteEndedJobsBefore,
  insertJob,
  isCurrentAttempt,
  type JobAttempt,
  type JobRow,
  listJobs,
  readJob,
  readUnfinishedJobs,
  takeOverJobs,
  updateAttempt,
} from './job-store.ts'
import { AbandonedError, type Publishing } from './publishing.ts'

const KEEP = 30 * DAY
const PROGRESS_EVERY = SECOND / 2
/**
 * A file that crashes the process every time, for example for lack of memory, must not be retried forever.
 */
const MAX_ATTEMPTS = 3

/** How soon a job notices that another process has cancelled it. */
const WATCH_EVERY = SECOND

type EndState = 'done' | 'failed' | 'cancelled'
type JobFailure = NonNullable<JobRecord['problem']>

interface JobDeps {
  database: ControlDatabase
  publishing: Publishing
  clock: Clock
  log: Logger
  nodeId: string
  uploads: string
  /** How many jobs run at the same time. */
  maxRunning: number
}

/** The job belongs to another node, or was cancelled. The results of this attempt must not become visible. */
class AttemptLostError extends AbandonedError {
  override name = 'AttemptLostError'
}

/** A job that this process has queued or publishes. */
interface LocalJob {
  /** Removes it from the queue; false if it has begun. */
  dequeue: () => boolean
  /** Kills the compilation, because the attempt is lost. */
  lost: AbortController
  /** Settles when nothing of the attempt is left. */
  ended: Promise<void>
}

/**
 * Publishes uploads, a few at a time, and those of one table in the order of their jobs. A job ends in the
 * transaction that makes its version visible, or by a cancellation. Until then it can be restarted from its
 * row and its upload by this process, by the next one, or by another node.
 */
export class Jobs {
  /** Counts of this process, for the metrics. */
  readonly states = { waiting: 0, running: 0 }
  readonly finished = { done: 0, failed: 0, cancelled: 0 }
  readonly durations = new Durations()
  readonly #parts: JobDeps
  readonly #stopping = new AbortController()
  /** Null for a job whose row is being inserted. */
  readonly #local = new Map<string, LocalJob | null>()
  readonly #queue: KeyedQueue

  constructor(parts: JobDeps) {
    this.#parts = parts
    this.#queue = new KeyedQueue(parts.maxRunning)
  }

  /**
   * A new path for an upload. The file is removed when its job ends or, before the job starts, by its writer.
   */
  async uploadPath(jobId: string): Promise<string> {
    await makeFolderDurably(this.#parts.uploads, 0o700)
    return this.#upload(jobId)
  }

  newId(): string {
    return newId('job')
  }

  /**
   * Once this returns, the upload will be published or the job will state why not, even if this process dies.
   */
  async start(id: string, request: JobRequest): Promise<JobRecord> {
    const { database, clock, nodeId } = this.#parts
    const at = clock().toISOString()
    const row: JobRow = {
      id,
      table_name: request.publish.table,
      state: 'waiting',
      progress: null,
      report: null,
      problem: null,
      version: null,
      actor: request.origin.actor,
      node_id: nodeId,
      request: printJobRequest(request),
      attempts: 0,
      created_at: at,
      updated_at: at,
    }
    // Added before the row exists, so that a concurrent sweep that finds the row does not queue the job
    // twice.
    this.#local.set(id, null)
    try {
      await insertJob(database.db, row)
    } catch (error) {
      this.#local.delete(id)
      // The row may exist nevertheless if only the response was lost; then the next sweep resumes the job.
      const isAbsent = await readJob(database.db, id).then(
        (job) => job === undefined,
        () => false,
      )
      if (isAbsent) await rm(this.#upload(id), { force: true })
      throw error
    }
    this.#enqueue(id, request.publish.table, request)
    return jobRecord(row)
  }

  async find(id: string): Promise<JobRecord> {
    return jobRecord(await requireJob(this.#parts, id))
  }

  async list(listing: Parameters<typeof listJobs>[1]): Promise<JobRecord[]> {
    return (await listJobs(this.#parts.database.db, listing)).map(jobRecord)
  }

  /** If this process publishes the job, nothing of it is left when this returns. */
  async cancel(origin: Origin, id: string): Promise<JobRecord> {
    const cancelled = await cancelJob(this.#parts, origin, id)
    const local = this.#local.get(id)
    if (local?.dequeue()) {
      this.#local.delete(id)
      this.states.waiting--
      this.finished.cancelled++
    } else {
      local?.lost.abort(new AttemptLostError())
      await local?.ended
    }
    return cancelled
  }

  /**
   * Resumes the jobs of processes that died while publishing, and those of this process that it could not end
   * because the database was unreachable. Removes the uploads that no job needs.
   */
  async sweep({ isStart = false } = {}): Promise<void> {
    const { database, clock, nodeId, log } = this.#parts
    await takeOverJobs(database, nodeId, clock().toISOString())
    for (const row of await readUnfinishedJobs(database.db, nodeId)) {
      if (this.#local.has(row.id)) continue
      log.info({ job: row.id, table: row.table_name }, `The job ${row.id} is taken up again.`)
      this.#enqueue(row.id, row.table_name, parseJobRequest(row.request))
    }
    await this.#sweepUploads(isStart && database.kind === 'sqlite' ? 0 : DAY)
  }

  /** Deletes jobs that ended long ago. `now` is the housekeeping's clock. */
  async deleteOld(now: Date): Promise<void> {
    await deleteEndedJobsBefore(this.#parts.database, plus(now, -KEEP).toISOString())
  }

  /**
   * Aborts the running jobs. They return to the waiting state and are resumed at the next start or by another
   * node.
   */
  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#queue.settled()
  }

  /**
   * Removes uploads that no job needs. An upload that is still arriving has no job yet, so an upload without
   * a job is removed only after it was idle for `idleMs`.
   */
  async #sweepUploads(idleMs: number): Promise<void> {
    const { database, clock, uploads } = this.#parts
    const before = plus(clock(), -idleMs)
    for (const name of await readdir(uploads).catch(() => [])) {
      if (!isId('job', name)) continue
      const path = join(uploads, name)
      // Read the file's time before the job: if a job begins in between, the upload is then seen as needed.
      const file = await stat(path).catch(() => null)
      const job = await readJob(database.db, name)
      const isIdle = file !== null && (idleMs === 0 || file.mtime < before)
      const isUnwanted = job ? isJobEnded(job.state) : isIdle
      if (isUnwanted) await rm(path, { force: true })
    }
  }

  #enqueue(id: string, table: string, request: JobRequest | null): void {
    this.states.waiting++
    const lost = new AbortController()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    // In the map before it is queued, because the queue may begin at once.
    const local: LocalJob = { lost, ended, dequeue: () => false }
    this.#local.set(id, local)
    local.dequeue = this.#queue.add(table, () =>
      this.#measure(() => this.#run(id, request, lost))
        .catch((error: unknown) => this.#parts.log.error({ err: error }, `The job ${id} could not be run.`))
        .finally(() => {
          this.#local.delete(id)
          resolve()
        }),
    )
  }

  /**
   * Counts a job by its state for the metrics. `run` returns the job's final state, or null if the job
   * continues elsewhere.
   */
  async #measure(run: () => Promise<EndState | null>): Promise<void> {
    this.states.waiting--
    this.states.running++
    const end = this.durations.start()
    try {
      const state = await run()
      if (state !== null) this.finished[state]++
    } finally {
      end()
      this.states.running--
    }
  }

  async #run(id: string, request: JobRequest | null, lost: AbortController): Promise<EndState | null> {
    const { database, nodeId, clock, log } = this.#parts
    if (this.#stopping.signal.aborted) return null
    const attempt = await beginAttempt(database.db, id, nodeId, clock().toISOString())
    if (!attempt) return null
    const stopWatching = this.#watch(attempt, lost)
    try {
      await this.#publish(attempt, request, AbortSignal.any([this.#stopping.signal, lost.signal]))
    } catch (error) {
      if (error instanceof AttemptLostError || lost.signal.aborted) {
        if ((await readJob(database.db, id))?.state !== 'cancelled') {
          log.warn(`The job ${id} was taken over by another node; this attempt is dropped.`)
          return null
        }
        log.info({ job: id }, `The job ${id} was cancelled.`)
      } else if (this.#stopping.signal.aborted || error instanceof CompileInterruptedError) {
        // Stopping the server is not the file's fault, so the attempt does not count.
        await this.#update(attempt, { state: 'waiting', progress: null, attempts: attempt.number - 1 })
        return null
      } else {
        if (!(error instanceof SourceError)) log.error({ err: error }, `Job ${id} failed.`)
        await this.#update(attempt, { state: 'failed', problem: JSON.stringify(failureOf(error)) })
      }
    } finally {
      stopWatching()
    }
    const job = await readJob(database.db, id)
    if (!job || !isJobEnded(job.state)) return null
    await rm(this.#upload(id), { force: true })
    return job.state as EndState
  }

  /** Notices that another process, such as a command or another node, has cancelled the job or taken it over. */
  #watch(attempt: JobAttempt, lost: AbortController): () => void {
    const { database } = this.#parts
    const timer = setInterval(() => {
      isCurrentAttempt(database.db, attempt).then(
        (isCurrent) => {
          if (!isCurrent && !isDone) lost.abort(new AttemptLostError())
        },
        // While the database is unreachable, the attempt goes on: it cannot become visible without it.
        () => {},
      )
    }, WATCH_EVERY).unref()
    let isDone = false
    return () => {
      isDone = true
      clearInterval(timer)
    }
  }

  async #publish(attempt: JobAttempt, request: JobRequest | null, signal: AbortSignal): Promise<void> {
    const { publishing, clock } = this.#parts
    const path = this.#upload(attempt.id)
    const size = await stat(path).then(
      (file) => file.size,
      () => null,
    )
    if (request === null || size !== request.uploadBytes) {
      throw new SourceError('The server stopped, and the file it had received is not whole. Send it again.')
    }
    if (attempt.number > MAX_ATTEMPTS) {
      throw new SourceError(
        `The server was ended ${MAX_ATTEMPTS} times while it published the file, so it is not tried again. The file may need more memory than the server has.`,
      )
    }
    let toldAt = 0
    const onProgress = (progress: CompileProgress) => {
      const now = performance.now()
      if (now - toldAt < PROGRESS_EVERY) return
      toldAt = now
      this.#update(attempt, { progress: JSON.stringify(progress) }).catch(() => {})
    }
    const published = await publishing.publish({ ...request.publish, path }, request.origin, {
      onProgress,
      signal,
      alongside: async (tx, report) => {
        const isOurs = await updateAttempt(tx, attempt, {
          state: 'done',
          report: JSON.stringify(report),
          version: report.version,
          updated_at: clock().toISOString(),
        })
        if (!isOurs) throw new AttemptLostError()
      },
    })
    // A dry run makes no version, so there is no transaction to end the job in.
    if (request.publish.dryRun)
      await this.#update(attempt, { state: 'done', report: JSON.stringify(published) })
  }

  #upload(jobId: string): string {
    return join(this.#parts.uploads, jobId)
  }

  async #update(attempt: JobAttempt, change: Partial<JobRow>): Promise<void> {
    const { database, clock } = this.#parts
    await updateAttempt(database.db, attempt, { ...change, updated_at: clock().toISOString() })
  }
}

function failureOf(error: unknown): JobFailure {
  if (error instanceof InvalidSourceError) {
    return { detail: error.message, problems: error.problems, problemCount: error.problemCount }
  }
  if (error instanceof SourceError) return { detail: error.message }
  return { detail: 'Something failed on our side. The log has it under the job’s id.' }
}
