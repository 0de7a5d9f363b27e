import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CompileProgress } from '@wayleave/geodata/snapshot/compile.ts'
import { InvalidSourceError } from '@wayleave/geodata/snapshot/invalid-source-error.ts'
import { SourceError } from '@wayleave/geodata/source-error.ts'
import type { Logger } from 'pino'
import { type Clock, DAY, plus, SECOND } from '../clock.ts'
import type { ControlDatabase } from '../database/open.ts'
import type { Origin } from '../events/events.ts'
import { isId, newId } from '../id.ts'
import { notFound } from '../problem.ts'
import {
  deleteJobsBefore,
  failAbandonedJobs,
  insertJob,
  type JobRow,
  readJob,
  updateJob,
} from './job-store.ts'
import type { Publishing, PublishReport, PublishRequest } from './publishing.ts'

const KEEP = 30 * DAY
const PROGRESS_EVERY = SECOND / 2

export interface JobFailure {
  detail: string
  /** The first ten rows that cannot be published, and how many there are. */
  problems?: { row: number; message: string }[]
  problemCount?: number
}

/** A publishing that was asked for over HTTP. */
export interface Job {
  id: string
  table: string
  state: JobRow['state']
  progress: CompileProgress | null
  report: PublishReport | null
  problem: JobFailure | null
  createdAt: string
  updatedAt: string
}

interface JobParts {
  database: ControlDatabase
  publishing: Publishing
  clock: Clock
  log: Logger
  nodeId: string
  uploads: string
}

/** Publishes uploads one after the other: compiling uses all cores by itself. */
export class Jobs {
  readonly #parts: JobParts
  readonly #stopping = new AbortController()
  #queue: Promise<void> = Promise.resolve()

  constructor(parts: JobParts) {
    this.#parts = parts
  }

  /** A fresh place for an upload. The file is removed when its job ends; before the job starts, by its writer. */
  async uploadPath(jobId: string): Promise<string> {
    await mkdir(this.#parts.uploads, { recursive: true, mode: 0o700 })
    return join(this.#parts.uploads, jobId)
  }

  newId(): string {
    return newId('job')
  }

  async start(id: string, request: PublishRequest, origin: Origin): Promise<Job> {
    const { database, clock, nodeId } = this.#parts
    const at = clock().toISOString()
    const row: JobRow = {
      id,
      table_name: request.table,
      state: 'waiting',
      progress: null,
      report: null,
      problem: null,
      version: null,
      actor: origin.actor,
      node_id: nodeId,
      created_at: at,
      updated_at: at,
    }
    await insertJob(database.db, row)
    this.#queue = this.#queue.then(() => this.#run(id, request, origin))
    return toJob(row)
  }

  async find(id: string): Promise<Job> {
    const row = isId('job', id) ? await readJob(this.#parts.database.db, id) : undefined
    if (!row) throw notFound('such job')
    return toJob(row)
  }

  /**
   * Jobs and uploads of processes that ended in their midst: on SQLite at the start, before anything is
   * uploaded; on PostgreSQL also while nodes serve, for another one may have ended.
   */
  async sweep(): Promise<void> {
    const { database, clock, nodeId, uploads } = this.#parts
    const problem: JobFailure = { detail: 'The server stopped before the file was published. Send it again.' }
    await failAbandonedJobs(database, nodeId, JSON.stringify(problem), clock().toISOString())
    if (database.kind === 'sqlite') await rm(uploads, { recursive: true, force: true })
    else await this.#sweepUploads()
  }

  /** Jobs that ended long ago, by the clock of the housekeeping. */
  async deleteOld(now: Date): Promise<void> {
    await deleteJobsBefore(this.#parts.database, plus(now, -KEEP).toISOString())
  }

  /** What nobody has written to for a day, and no job waits to read. */
  async #sweepUploads(): Promise<void> {
    const { database, clock, uploads } = this.#parts
    const dayAgo = plus(clock(), -DAY)
    for (const name of await readdir(uploads).catch(() => [])) {
      const path = join(uploads, name)
      const { mtime } = await stat(path).catch(() => ({ mtime: clock() }))
      const job = mtime < dayAgo ? await readJob(database.db, name) : undefined
      const isWanted = mtime >= dayAgo || job?.state === 'waiting' || job?.state === 'running'
      if (!isWanted) await rm(path, { force: true })
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#queue
  }

  async #run(id: string, request: PublishRequest, origin: Origin): Promise<void> {
    const { publishing, log } = this.#parts
    let toldAt = 0
    const tell = (progress: CompileProgress) => {
      const now = performance.now()
      if (now - toldAt < PROGRESS_EVERY) return
      toldAt = now
      this.#update(id, { progress: JSON.stringify(progress) }).catch(() => {})
    }
    try {
      this.#stopping.signal.throwIfAborted()
      await this.#update(id, { state: 'running' })
      const report = await publishing.publish(request, origin, tell, this.#stopping.signal)
      await this.#update(id, { state: 'done', report: JSON.stringify(report), version: report.version })
    } catch (error) {
      if (!(error instanceof SourceError)) log.error({ err: error }, `Job ${id} failed.`)
      const problem = JSON.stringify(failureOf(error, this.#stopping.signal.aborted))
      await this.#update(id, { state: 'failed', problem }).catch((failure: unknown) =>
        log.error({ err: failure }, `The failure of job ${id} could not be saved.`),
      )
    } finally {
      await rm(request.path, { force: true })
    }
  }

  async #update(id: string, change: Partial<JobRow>): Promise<void> {
    await updateJob(this.#parts.database.db, id, { ...change, updated_at: this.#parts.clock().toISOString() })
  }
}

function failureOf(error: unknown, stopping: boolean): JobFailure {
  if (stopping) return { detail: 'The server stopped before the file was published. Send it again.' }
  if (error instanceof InvalidSourceError) {
    return { detail: error.message, problems: error.problems, problemCount: error.problemCount }
  }
  if (error instanceof SourceError) return { detail: error.message }
  return { detail: 'Something failed on our side. The log has it under the job’s id.' }
}

function toJob(row: JobRow): Job {
  const parsed = (text: string | null) => (text === null ? null : JSON.parse(text))
  return {
    id: row.id,
    table: row.table_name,
    state: row.state,
    progress: parsed(row.progress),
    report: parsed(row.report),
    problem: parsed(row.problem),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
