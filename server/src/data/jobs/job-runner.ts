import { randomUUID } from 'node:crypto'
import { isJobEnded } from '@wayleave/contract/job-states'
import { singleFlight } from '@wayleave/geodata/base'
import type { Logger } from 'pino'
import { type Clock, SECOND } from '../../base/clock.ts'
import { DatabaseError } from '../../base/database/database-error.ts'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import { type NodeTime, systemTime } from '../../base/node-time.ts'
import { StorageUnavailableError } from '../../base/storage/object-store.ts'
import { Durations } from '../../http/observability/durations.ts'
import { AttemptLostError, JobObsoleteError, RetryLaterError } from './job-errors.ts'
import { jobFields } from './job-fields.ts'
import { JOB_KINDS, type JobKind } from './job-kinds.ts'
import { kindsOf } from './job-limits.ts'
import type { JobMessages } from './job-messages.ts'
import { type JobPlace, JobPlaces } from './job-places.ts'
import {
  claimJob,
  type JobAttempt,
  type JobRow,
  LEASE_MS,
  readJob,
  releaseAbandonedJobs,
  releaseJob,
  renewLeases,
  updateAttempt,
} from './job-store.ts'

/** How often a worker looks for jobs if no message arrives. */
const POLL_EVERY = 2 * SECOND
/** A tenth of a lease: a worker that stands still for some seconds keeps its jobs. */
const RENEW_EVERY = SECOND
const PROGRESS_EVERY = SECOND / 2
/** A job that ends its worker every time, for example for lack of memory, must not be retried forever. */
export const MAX_ATTEMPTS = 3
/** Delays of retries grow to a minute, so this many span an outage of a quarter of an hour. */
const MAX_RETRIES = 20
const MAX_RETRY_DELAY = 60 * SECOND
/** How often an outcome is stored again that the database did not take. */
const STORE_EVERY = SECOND
/** How long a stop waits for an unreachable database to return its jobs; each part has ten seconds to close. */
const STOP_PATIENCE = 8 * SECOND

type EndState = 'done' | 'failed' | 'cancelled'

/** What a handler gets to run one attempt at a job. */
export interface RunningJob {
  readonly row: JobRow
  /** Aborted when the server stops, or when the job is cancelled or taken over by another worker. */
  readonly signal: AbortSignal
  /** Reports progress, at most twice a second. */
  onProgress(progress: object): void
  /**
   * Ends the job as done. Call it in the transaction that makes the result visible: it throws if the attempt
   * does not hold the job any more, so that both are committed or neither is.
   */
  finish(tx: Tx | Db, change?: Partial<JobRow>): Promise<void>
  /** The same without ending the job, for a part of the result that becomes visible before the rest. */
  requireHeld(tx: Tx): Promise<void>
  /** Part of the result is kept for good, so attempts that were cut off before count no more. */
  resetAttempts(): Promise<void>
  /** Runs work without occupying the job's place, see `JobPlace`. */
  beside<T>(work: () => Promise<T>): Promise<T>
}

/** Runs the jobs of one kind. */
export interface JobHandler {
  /** Must call `job.finish`, or throw. */
  run(job: RunningJob): Promise<void>
  /** The job's `problem`, as stored in its row. */
  problemOf(error: unknown, row: JobRow): object
  /** The problem of a job whose worker died in every attempt. */
  tooManyAttempts(row: JobRow): unknown
  /** Called once the job has ended for good, to remove what it no longer needs. */
  onEnd?(row: JobRow): Promise<void>
}

export interface JobRunnerDeps {
  database: ControlDatabase
  messages: JobMessages
  clock: Clock
  log: Logger
  nodeId: string
  /** How many jobs of each kind this process runs at the same time; none of a kind with 0. */
  limits: Record<JobKind, number>
  /** How many jobs may run beside those that have a place. */
  maxBeside?: number
  /** Max running sources of one publisher, on all nodes. */
  sourcesPerOwner?: number
  /** Simulations replace it. */
  time?: NodeTime
}

interface LocalJob extends JobAttempt {
  kind: JobKind
  place: JobPlace
  lost: AbortController
  ended: Promise<void>
  /** Set when the job is about to end in the handler's transaction: then its lease is not lost. */
  isFinishing: boolean
}

const byKind = <T>(create: () => T) =>
  Object.fromEntries(JOB_KINDS.map((kind) => [kind, create()])) as Record<JobKind, T>

/**
 * Claims jobs from the table and runs them. While an attempt runs, its lease is renewed; if this process dies,
 * the lease lapses and another worker starts the job again. An attempt that lost its lease is aborted, and its
 * token no longer matches the job, so it cannot make anything visible.
 *
 * See docs/decisions/own-job-table.md.
 */
export class JobRunner {
  /** Counts of this process, for the metrics. */
  readonly running = byKind(() => 0)
  readonly finished = byKind((): Record<EndState, number> => ({ done: 0, failed: 0, cancelled: 0 }))
  readonly durations = byKind(() => new Durations())
  /** Jobs whose worker died, as this process found out: their leases had lapsed. */
  leasesLost = 0
  readonly #parts: JobRunnerDeps
  readonly #time: NodeTime
  readonly #places: JobPlaces
  readonly #handlers = new Map<JobKind, JobHandler>()
  readonly #local = new Map<string, LocalJob>()
  readonly #stopping = new AbortController()
  readonly #stopTimers: (() => void)[] = []
  #isStarted = false
  /** When the database failed last, by the monotonic clock. */
  #outageAt = Number.NEGATIVE_INFINITY
  /** Set while jobs are claimed: claim once more afterwards. */
  #claimAgain = false
  readonly #claimAll = singleFlight(() => this.#claim())
  readonly #renewAll = singleFlight(() => this.#renew())

  constructor(parts: JobRunnerDeps) {
    this.#parts = parts
    this.#time = parts.time ?? systemTime
    this.#places = new JobPlaces(parts.limits, parts.maxBeside ?? 0, () => this.wake())
  }

  handle(kind: JobKind, handler: JobHandler): void {
    this.#handlers.set(kind, handler)
  }

  /** Starts to claim jobs. Must be called after `handle`. */
  async start(): Promise<void> {
    const { database, messages, limits } = this.#parts
    if (kindsOf(limits).length === 0) return
    this.#isStarted = true
    await this.#release(database.kind === 'sqlite')
    messages.onWaiting(() => this.wake())
    messages.onCancelled((id) => this.#abort(id))
    this.#every(POLL_EVERY, () => this.#poll())
    this.#every(RENEW_EVERY, () => this.#renewAll())
    this.wake()
  }

  /** Looks for jobs now. Safe to call at any rate. */
  wake(): void {
    if (!this.#isStarted || this.#stopping.signal.aborted) return
    this.#claimAgain = true
    this.#claimAll().catch((error: unknown) => this.#note(error))
  }

  /** If this process runs the job: aborts it, and resolves when nothing of the attempt is left. */
  async abort(id: string): Promise<void> {
    this.#abort(id)
    await this.#local.get(id)?.ended
  }

  /** Aborts the running jobs. They return to the waiting state; another worker or the next start runs them. */
  async close(): Promise<void> {
    this.#stopping.abort()
    for (const stop of this.#stopTimers) stop()
    // A claim under way begins its job, which ends at once.
    await this.#claimAll().catch(() => {})
    await Promise.all([...this.#local.values()].map(({ ended }) => ended))
  }

  #every(milliseconds: number, work: () => Promise<void>): void {
    const run = () => void work().catch((error: unknown) => this.#note(error))
    this.#stopTimers.push(this.#time.every(milliseconds, run))
  }

  /** While the database is unreachable, nothing can be claimed; the outage is logged elsewhere. */
  #note(error: unknown): void {
    if (error instanceof DatabaseError) this.#outageAt = this.#time.now()
    else this.#parts.log.error({ err: error }, 'Claiming jobs failed.')
  }

  #abort(id: string): void {
    this.#local.get(id)?.lost.abort(new AttemptLostError())
  }

  async #poll(): Promise<void> {
    // Leases lapse during an outage of the database. Afterwards their holders get the time to renew them.
    if (this.#time.now() - this.#outageAt > LEASE_MS) await this.#release(false)
    this.wake()
  }

  async #release(evenLeased: boolean): Promise<void> {
    const { database, clock, log } = this.#parts
    const except = [...this.#local.keys()]
    const at = clock().toISOString()
    for (const job of await releaseAbandonedJobs(database, { except, evenLeased, at })) {
      this.leasesLost++
      log.warn(
        { job: job.id, kind: job.kind, table: job.table_name },
        `The worker of the job ${job.id} died.`,
      )
    }
  }

  async #claim(): Promise<void> {
    const { database, clock, nodeId, sourcesPerOwner } = this.#parts
    while (this.#claimAgain && !this.#stopping.signal.aborted) {
      this.#claimAgain = false
      for (;;) {
        const kinds = this.#places.kindsWithPlaces()
        if (kinds.length === 0 || this.#stopping.signal.aborted) return
        const row = await claimJob(database, {
          kinds,
          nodeId,
          token: randomUUID(),
          at: clock().toISOString(),
          except: [...this.#local.keys()],
          ...(sourcesPerOwner !== undefined && { sourcesPerOwner }),
        })
        if (row === null) break
        this.#begin(row)
      }
    }
  }

  #begin(row: JobRow): void {
    const { id, kind } = row
    const lost = new AbortController()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const place = this.#places.take(kind)
    const local: LocalJob = { id, token: row.lease_token!, kind, place, lost, ended, isFinishing: false }
    this.#local.set(id, local)
    this.running[kind]++
    const end = this.durations[kind].start()
    this.#run(row, local)
      .then((state) => {
        if (state === null) return
        this.finished[kind][state]++
        this.#parts.log.info(jobFields(row), `The job ${id} has ended: ${state}.`)
      })
      .catch((error: unknown) =>
        this.#parts.log.error({ ...jobFields(row), err: error }, `The job ${id} could not be run.`),
      )
      .finally(() => {
        end()
        this.running[kind]--
        place.leave()
        this.#local.delete(id)
        resolve()
        this.wake()
      })
  }

  /** Returns the job's final state, or null if it continues later or on another node. */
  async #run(row: JobRow, local: LocalJob): Promise<EndState | null> {
    const { database, log, messages } = this.#parts
    const handler = this.#handlers.get(row.kind)!
    try {
      if (row.attempts > MAX_ATTEMPTS) throw handler.tooManyAttempts(row)
      await handler.run(this.#runningJob(row, local))
    } catch (error) {
      if (await this.#storeFailure(error, row, local)) return null
    }
    const job = await this.#persistently(() => readJob(database.db, row.id))
    if (!job || !isJobEnded(job.state)) return null
    await messages.sendEnded(row.id).catch(() => {})
    await handler
      .onEnd?.(job)
      .catch((error: unknown) => log.warn({ err: error }, 'Removing files of a job failed.'))
    return job.state as EndState
  }

  /** Stores the outcome of a failed attempt. Returns whether the job continues later or on another node. */
  async #storeFailure(error: unknown, row: JobRow, local: LocalJob): Promise<boolean> {
    const { database, log, clock } = this.#parts
    const { id, kind, attempts, retries } = row
    if (error instanceof AttemptLostError || local.lost.signal.aborted) {
      const job = await this.#persistently(() => readJob(database.db, id))
      if (job?.state === 'cancelled') {
        log.info(jobFields(row), `The job ${id} was cancelled.`)
        return false
      }
      log.warn(jobFields(row), `The job ${id} was taken over by another node; this attempt is dropped.`)
      return true
    }
    if (this.#stopping.signal.aborted) {
      // Stopping the server is not the job's fault, so the attempt does not count.
      await this.#handBack(local, attempts - 1, retries, 0)
      return true
    }
    if (isTransient(error) && retries < MAX_RETRIES) {
      const delayMs = retryDelay(retries)
      log.warn(
        { ...jobFields(row), err: error },
        `The job ${id} is retried in ${Math.ceil(delayMs / SECOND)} s.`,
      )
      const isCounted = error instanceof RetryLaterError && error.countsAsAttempt
      await this.#handBack(local, isCounted ? attempts : attempts - 1, retries + 1, delayMs)
      return true
    }
    const isObsolete = error instanceof JobObsoleteError
    if (isObsolete) log.info(jobFields(row), error.message)
    const state = isObsolete ? 'cancelled' : 'failed'
    const problem = JSON.stringify(this.#handlers.get(kind)!.problemOf(error, row))
    const change = { state, problem, updated_at: clock().toISOString() } as const
    await this.#persistently(() => updateAttempt(database.db, local, change))
    return false
  }

  async #handBack(local: LocalJob, attempts: number, retries: number, delayMs: number): Promise<void> {
    const { database, clock, messages } = this.#parts
    const at = clock().toISOString()
    await this.#persistently(() => releaseJob(database, local, { attempts, retries, delayMs, at }))
    await messages.sendWaiting().catch(() => {})
  }

  /**
   * Repeats a statement about a job until the database responds. If the outcome of an attempt were not stored, its
   * lease would lapse, and the outage would count as a death of the worker. If another worker has the job by then,
   * the statement changes nothing.
   */
  async #persistently<T>(statement: () => Promise<T>): Promise<T> {
    const { signal } = this.#stopping
    let end = Number.POSITIVE_INFINITY
    for (;;) {
      try {
        return await statement()
      } catch (error) {
        if (signal.aborted) end = Math.min(end, this.#time.now() + STOP_PATIENCE)
        if (!(error instanceof DatabaseError) || this.#time.now() + STORE_EVERY > end) throw error
        await this.#time.sleep(STORE_EVERY)
      }
    }
  }

  #runningJob(row: JobRow, local: LocalJob): RunningJob {
    const { database, clock } = this.#parts
    const signal = AbortSignal.any([this.#stopping.signal, local.lost.signal])
    const now = () => clock().toISOString()
    let lastReportAt = Number.NEGATIVE_INFINITY
    return {
      row,
      signal,
      onProgress: (progress) => {
        if (this.#time.now() - lastReportAt < PROGRESS_EVERY || signal.aborted) return
        lastReportAt = this.#time.now()
        const change = { progress: JSON.stringify(progress), updated_at: now() }
        updateAttempt(database.db, local, change).catch(() => {})
      },
      finish: async (tx, change = {}) => {
        local.isFinishing = true
        const isOurs = await updateAttempt(tx, local, { ...change, state: 'done', updated_at: now() })
        if (!isOurs) throw new AttemptLostError()
      },
      requireHeld: async (tx) => {
        if (!(await updateAttempt(tx, local, { updated_at: now() }))) throw new AttemptLostError()
      },
      resetAttempts: async () => {
        if (row.attempts > 1 && (await updateAttempt(database.db, local, { attempts: 1 }))) row.attempts = 1
      },
      beside: (work) => local.place.beside(work, signal),
    }
  }

  /**
   * While the database is unreachable, attempts go on: they cannot become visible without it. Afterwards the
   * tokens show whether another worker has taken the jobs.
   */
  async #renew(): Promise<void> {
    const attempts = [...this.#local.values()]
    if (attempts.length === 0) return
    const heldTokens = await renewLeases(this.#parts.database, attempts)
    for (const { token, lost, isFinishing } of attempts) {
      if (!heldTokens.has(token) && !isFinishing) lost.abort(new AttemptLostError())
    }
  }
}

function isTransient(error: unknown): boolean {
  return (
    error instanceof RetryLaterError ||
    error instanceof DatabaseError ||
    error instanceof StorageUnavailableError
  )
}

/** 1, 2, 4 … 60 seconds, varied by a quarter so that many jobs do not return at the same instant. */
function retryDelay(retries: number): number {
  return Math.min(SECOND * 2 ** retries, MAX_RETRY_DELAY) * (0.75 + Math.random() / 2)
}
