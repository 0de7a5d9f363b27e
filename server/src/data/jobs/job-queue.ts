import { setTimeout as sleep } from 'node:timers/promises'
import { isJobEnded } from '@wayleave/contract/job-states'
import { singleFlight } from '@wayleave/geodata/base'
import { type Clock, SECOND } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { newId } from '../../base/id.ts'
import { JOB_KINDS, type JobKind, PRIORITIES, queueOf } from './job-kinds.ts'
import type { JobMessages } from './job-messages.ts'
import {
  countOpenJobs,
  hasLiveWorker,
  insertOrJoinJob,
  type JobCount,
  type JobRow,
  listOpenJobs,
  readJob,
  waitingJob,
} from './job-store.ts'

/** How often a request that waits for a job reads its row if no message arrives. */
const LOOK_EVERY = SECOND / 2
/** A worker that restarts is back within this time. */
const WITHOUT_WORKER = 5 * SECOND
/** How long a list of open jobs is reused. */
const OPEN_JOBS_FRESH = SECOND

export interface JobQueueDeps {
  database: ControlDatabase
  messages: JobMessages
  clock: Clock
  nodeId: string
  /** The kinds of jobs that this process runs. */
  ownKinds: readonly JobKind[]
}

/** What is to be built, and for which table. The key names the result: two jobs never build the same at once. */
export interface BuildJob {
  kind: 'export' | 'tiles' | 'part'
  table: string
  /** The jobs of a kind with the same run one at a time: the snapshot, if they build files of it. */
  queue: string
  key: string
  request: object
  priority?: number
}

/** No worker has run the job in time. It stays in the queue. */
export class JobNotRunError extends Error {
  override name = 'JobNotRunError'
  readonly reason: 'no-worker' | 'busy'

  constructor(reason: 'no-worker' | 'busy') {
    super(reason === 'no-worker' ? 'No worker runs jobs of this kind.' : 'The job did not end in time.')
    this.reason = reason
  }
}

/** Adds jobs, and waits for those whose result a request needs. */
export class JobQueue {
  readonly #parts: JobQueueDeps
  readonly #waiters = new Map<string, Set<() => void>>()
  readonly #open = new Map<JobKind, { readAt: number; jobs: Map<string, JobRow> }>()
  readonly #readOpen: Record<JobKind, () => Promise<Map<string, JobRow>>>

  constructor(parts: JobQueueDeps) {
    this.#parts = parts
    parts.messages.onEnded((id) => {
      for (const wake of this.#waiters.get(id) ?? []) wake()
    })
    const reader = (kind: JobKind) => singleFlight(() => this.#loadOpen(kind))
    this.#readOpen = Object.fromEntries(JOB_KINDS.map((kind) => [kind, reader(kind)])) as Record<
      JobKind,
      () => Promise<Map<string, JobRow>>
    >
  }

  /** Adds a job, unless the same is waiting or running. Returns the job that will do it. */
  async add(job: BuildJob): Promise<JobRow> {
    const { database, messages, clock, nodeId } = this.#parts
    const row = waitingJob({
      id: newId('job'),
      kind: job.kind,
      table_name: job.table,
      queue: queueOf(job.kind, job.queue),
      single_key: `${job.kind} ${job.key}`,
      priority: job.priority ?? PRIORITIES[job.kind],
      actor: 'system',
      node_id: nodeId,
      request: JSON.stringify(job.request),
      at: clock().toISOString(),
    })
    const open = await insertOrJoinJob(database.db, row)
    await messages.sendWaiting().catch(() => {})
    this.#open.delete(job.kind)
    return open
  }

  /**
   * Resolves with the job once it has ended. Throws a JobNotRunError if it has not ended after `maxMs`, or sooner
   * if no worker is there to run it.
   */
  async ended(job: JobRow, { maxMs, signal }: { maxMs: number; signal: AbortSignal }): Promise<JobRow> {
    const began = performance.now()
    for (;;) {
      // Before the row is read, so that no message between the two is missed.
      const woken = this.#wait(job.id, signal)
      woken.catch(() => {})
      const row = await readJob(this.#parts.database.db, job.id)
      if (!row) throw new JobNotRunError('busy')
      if (isJobEnded(row.state)) return row
      const waitedMs = performance.now() - began
      if (waitedMs > maxMs) throw new JobNotRunError('busy')
      if (row.state === 'waiting' && waitedMs > WITHOUT_WORKER && !(await this.hasWorker(job.kind)))
        throw new JobNotRunError('no-worker')
      await woken
    }
  }

  async hasWorker(kind: JobKind): Promise<boolean> {
    const { database, ownKinds } = this.#parts
    return ownKinds.includes(kind) || (database.kind === 'postgres' && hasLiveWorker(database, kind))
  }

  /** The waiting and running jobs of a kind by their key, as of a second ago at most. */
  async open(kind: JobKind): Promise<ReadonlyMap<string, JobRow>> {
    const recent = this.#open.get(kind)
    if (recent && performance.now() - recent.readAt < OPEN_JOBS_FRESH) return recent.jobs
    return this.#readOpen[kind]()
  }

  /** The jobs that have not ended, of all processes. */
  count(): Promise<JobCount[]> {
    return countOpenJobs(this.#parts.database)
  }

  async #loadOpen(kind: JobKind): Promise<Map<string, JobRow>> {
    const readAt = performance.now()
    const rows = await listOpenJobs(this.#parts.database.db, kind)
    const jobs = new Map(rows.map((row) => [row.single_key?.slice(kind.length + 1) ?? row.id, row]))
    this.#open.set(kind, { readAt, jobs })
    return jobs
  }

  /** Resolves when the job is said to have ended, or when its row should be read again. */
  async #wait(id: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiters = this.#waiters.get(id) ?? new Set()
    this.#waiters.set(id, waiters.add(resolve))
    const polling = new AbortController()
    try {
      await Promise.race([
        promise,
        sleep(LOOK_EVERY, undefined, { ref: false, signal: AbortSignal.any([signal, polling.signal]) }),
      ])
    } finally {
      polling.abort()
      waiters.delete(resolve)
      if (waiters.size === 0) this.#waiters.delete(id)
    }
  }
}
