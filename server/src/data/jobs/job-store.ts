import type { JobState } from '@wayleave/contract/job-states'
import { sql } from 'kysely'
import {
  type ControlDatabase,
  type Db,
  deleteInSteps,
  isUniqueViolation,
  type Tx,
} from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import type { JobKind } from './job-kinds.ts'

export type JobRow = Tables['jobs']

/** What the `single_key` of jobs that publish from a source begins with; the table follows. */
export const SOURCE_JOB = 'publish source '

/** How long an attempt may stay silent, by the database's clock, before another worker takes its job. */
export const LEASE_MS = 10_000

/** One attempt at a job. Once another worker has claimed the job, or the job has ended, the token is void. */
export interface JobAttempt {
  id: string
  token: string
}

type NewJob = Pick<JobRow, 'id' | 'kind' | 'table_name' | 'queue' | 'actor' | 'node_id' | 'request'> & {
  at: string
} & Partial<Pick<JobRow, 'priority' | 'single_key' | 'owner_id'>>

export function waitingJob({ at, ...job }: NewJob): JobRow {
  return {
    priority: 0,
    single_key: null,
    owner_id: null,
    ...job,
    state: 'waiting',
    progress: null,
    report: null,
    problem: null,
    version: null,
    attempts: 0,
    retries: 0,
    run_after: null,
    lease_token: null,
    lease_until: null,
    created_at: at,
    updated_at: at,
  }
}

export async function insertJob(db: Db | Tx, row: JobRow): Promise<void> {
  await db.insertInto('jobs').values(row).execute()
}

/**
 * Inserts the job unless one with the same `single_key` is waiting or running, and returns the one that is. A
 * waiting job gets the higher priority of both.
 */
export async function insertOrJoinJob(db: Db, row: JobRow): Promise<JobRow> {
  for (;;) {
    const inserted = await db
      .insertInto('jobs')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (inserted.numInsertedOrUpdatedRows) return row
    const open = await readOpenJob(db, row.single_key!)
    // It may end between the two statements.
    if (!open) continue
    if (open.priority < row.priority && open.state === 'waiting') {
      await db
        .updateTable('jobs')
        .set({ priority: row.priority })
        .where('id', '=', open.id)
        .where('state', '=', 'waiting')
        .execute()
    }
    return open
  }
}

export async function readJob(db: Db, id: string): Promise<JobRow | undefined> {
  return db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
}

async function readOpenJob(db: Db, singleKey: string): Promise<JobRow | undefined> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('single_key', '=', singleKey)
    .where('state', 'in', ['waiting', 'running'])
    .executeTakeFirst()
}

export async function listOpenJobs(db: Db, kind: JobKind): Promise<JobRow[]> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', kind)
    .where('state', 'in', ['waiting', 'running'])
    .execute()
}

/** Jobs that are done since a time. */
export async function listEndedSince(db: Db, kind: JobKind, since: string): Promise<JobRow[]> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', kind)
    .where('state', '=', 'done')
    .where('updated_at', '>', since)
    .execute()
}

export interface JobListing {
  kind?: JobKind
  state?: JobState
  tables: string[] | null
  /** Only jobs of this organization; null for all. */
  ownerId: string | null
  /** The id of the last job of the previous page. */
  after?: string
  limit: number
}

/** Newest first. */
export async function listJobs(
  db: Db,
  { kind, state, tables, ownerId, after, limit }: JobListing,
): Promise<JobRow[]> {
  let query = db
    .selectFrom('jobs')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (state !== undefined) query = query.where('state', '=', state)
  if (tables !== null) query = query.where('table_name', 'in', tables)
  if (ownerId !== null) query = query.where('owner_id', '=', ownerId)
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(created_at, id) < (select created_at, id from jobs where id = ${after})`,
    )
  }
  return query.execute()
}

/**
 * Claims the waiting job of these kinds that is due: the highest priority first, then the oldest. In each queue
 * only the oldest job can be claimed, and only if none runs. Workers that claim at the same instant skip each
 * other's rows; the unique index on running jobs rejects what two of them could still claim of one queue.
 * Returns null if there is nothing to do.
 */
export async function claimJob(
  database: ControlDatabase,
  claim: {
    kinds: readonly JobKind[]
    nodeId: string
    token: string
    at: string
    except: readonly string[]
    /** Max running sources of one owner. */
    sourcesPerOwner?: number
  },
): Promise<JobRow | null> {
  const { db, kind: databaseKind } = database
  const { kinds, nodeId, token, at, except, sourcesPerOwner } = claim
  if (kinds.length === 0) return null
  let next = db
    .selectFrom('jobs as job')
    .select('job.id')
    .where('job.state', '=', 'waiting')
    .where('job.kind', 'in', [...kinds])
    .where((row) => row.or([row('job.run_after', 'is', null), row('job.run_after', '<=', database.time())]))
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom('jobs as other')
            .select('other.id')
            .whereRef('other.queue', '=', 'job.queue')
            .whereRef('other.id', '!=', 'job.id')
            .where((one) =>
              one.or([
                one('other.state', '=', 'running'),
                one.and([
                  one('other.state', '=', 'waiting'),
                  sql<boolean>`(other.created_at, other.id) < (job.created_at, job.id)`,
                ]),
              ]),
            ),
        ),
      ),
    )
    .orderBy('job.priority', 'desc')
    .orderBy('job.created_at')
    .orderBy('job.id')
    .limit(1)
  if (except.length > 0) next = next.where('job.id', 'not in', [...except])
  // Not exact if several workers claim at the same instant, which is enough to keep one publisher from all places.
  if (sourcesPerOwner !== undefined) {
    next = next.where(
      sql<boolean>`(job.single_key is null or job.single_key not like ${`${SOURCE_JOB}%`} or (
        select count(*) from jobs as same
        where same.state = 'running' and same.kind = 'publish' and same.single_key like ${`${SOURCE_JOB}%`}
          and coalesce(same.owner_id, '') = coalesce(job.owner_id, '')
      ) < ${sourcesPerOwner})`,
    )
  }
  if (databaseKind === 'postgres') next = next.forUpdate('job').skipLocked()
  try {
    const row = await db
      .updateTable('jobs')
      .set((job) => ({
        state: 'running' as const,
        attempts: job('attempts', '+', 1),
        node_id: nodeId,
        progress: null,
        run_after: null,
        lease_token: token,
        lease_until: database.time(LEASE_MS),
        updated_at: at,
      }))
      .where('id', '=', next)
      .where('state', '=', 'waiting')
      .returningAll()
      .executeTakeFirst()
    return row ?? null
  } catch (error) {
    if (isUniqueViolation(error)) return null
    throw error
  }
}

/** Extends the leases of attempts. Returns those that still hold their job. */
export async function renewLeases(
  database: ControlDatabase,
  attempts: readonly JobAttempt[],
): Promise<Set<string>> {
  const rows = await database.db
    .updateTable('jobs')
    .set({ lease_until: database.time(LEASE_MS) })
    .where('state', '=', 'running')
    .where(
      'lease_token',
      'in',
      attempts.map(({ token }) => token),
    )
    .returning('lease_token')
    .execute()
  return new Set(rows.map((row) => row.lease_token!))
}

/**
 * Sends jobs back to waiting whose worker died: its lease has lapsed. `except` are the jobs that this process
 * runs; it renews them itself. With `evenLeased`, leases do not count: on SQLite, all workers from before the
 * start of the server are gone.
 */
export async function releaseAbandonedJobs(
  database: ControlDatabase,
  { except, evenLeased, at }: { except: readonly string[]; evenLeased: boolean; at: string },
): Promise<Pick<JobRow, 'id' | 'kind' | 'table_name'>[]> {
  let query = database.db
    .updateTable('jobs')
    .set({ state: 'waiting', lease_token: null, lease_until: null, progress: null, updated_at: at })
    .where('state', '=', 'running')
  if (!evenLeased) {
    query = query.where((row) =>
      row.or([row('lease_until', 'is', null), row('lease_until', '<', database.time())]),
    )
  }
  if (except.length > 0) query = query.where('id', 'not in', [...except])
  return query.returning(['id', 'kind', 'table_name']).execute()
}

/** Changes the job if the attempt still holds it. Returns whether it did. */
export async function updateAttempt(
  db: Db | Tx,
  { id, token }: JobAttempt,
  change: Partial<JobRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set(change)
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Sends the job of an attempt back to waiting, for `delayMs` at least. */
export async function releaseJob(
  database: ControlDatabase,
  { id, token }: JobAttempt,
  { attempts, retries, delayMs, at }: { attempts: number; retries: number; delayMs: number; at: string },
): Promise<void> {
  await database.db
    .updateTable('jobs')
    .set({
      state: 'waiting',
      progress: null,
      attempts,
      retries,
      run_after: delayMs > 0 ? database.time(delayMs) : null,
      lease_token: null,
      lease_until: null,
      updated_at: at,
    })
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .where('state', '=', 'running')
    .execute()
}

/** Ends a job that has not ended yet. Returns whether it did: of a cancel and a publish, one wins. */
export async function setCancelled(tx: Tx, id: string, at: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('jobs')
    .set({ state: 'cancelled', progress: null, updated_at: at })
    .where('id', '=', id)
    .where('state', 'in', ['waiting', 'running'])
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends what is waiting to be published as this dataset, or is being published: it would bring the dataset back. */
export async function cancelPublishing(tx: Tx, table: string, at: string): Promise<void> {
  const problem = JSON.stringify({ detail: 'The dataset was removed meanwhile.' })
  await tx
    .updateTable('jobs')
    .set({ state: 'cancelled', progress: null, problem, updated_at: at })
    .where('kind', '=', 'publish')
    .where('table_name', '=', table)
    .where('state', 'in', ['waiting', 'running'])
    .execute()
}

/** Whether a node that holds a lease runs jobs of this kind. PostgreSQL only: SQLite has one server. */
export async function hasLiveWorker(database: ControlDatabase, kind: JobKind): Promise<boolean> {
  return (await countLiveWorkers(database, kind)) > 0
}

/** How many nodes that hold a lease run jobs of this kind. */
export async function countLiveWorkers(database: ControlDatabase, kind: JobKind): Promise<number> {
  const rows = await database.db
    .selectFrom('nodes')
    .select('job_kinds')
    .where('lease_until', '>', database.time())
    .where('job_kinds', 'is not', null)
    .execute()
  return rows.filter(({ job_kinds: kinds }) => kinds!.split(',').includes(kind)).length
}

export interface JobCount {
  kind: JobKind
  state: 'waiting' | 'running'
  count: number
  /** Seconds since the oldest of them was created. */
  oldestSeconds: number
}

/** The jobs that have not ended, by kind and state. */
export async function countOpenJobs(database: ControlDatabase): Promise<JobCount[]> {
  const rows = await database.db
    .selectFrom('jobs')
    .select(({ fn }) => [
      'kind',
      'state',
      fn.countAll<number | string>().as('count'),
      fn.min('created_at').as('oldest'),
      database.time().as('now'),
    ])
    .where('state', 'in', ['waiting', 'running'])
    .groupBy(['kind', 'state'])
    .execute()
  return rows.map(({ kind, state, count, oldest, now }) => ({
    kind,
    state: state as JobCount['state'],
    count: Number(count),
    oldestSeconds: Math.max(0, (Date.parse(now) - Date.parse(oldest)) / 1000),
  }))
}

/** Deletes only jobs that have ended: a job that has been waiting for a long time must not be lost. */
export async function deleteEndedJobsBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'jobs', (row) =>
    row.and([row('state', 'in', ['done', 'failed', 'cancelled']), row('created_at', '<', at)]),
  )
}
