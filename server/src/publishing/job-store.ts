import type { JobState } from '@wayleave/contract/job-states'
import { sql } from 'kysely'
import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../database/open.ts'
import { databaseTime } from '../database/postgres-changes.ts'
import type { Tables } from '../database/schema.ts'

export type JobRow = Tables['jobs']

/**
 * One attempt of one node at a job. Once another node has taken the job over, or the job has ended, the
 * attempt no longer matches it.
 */
export interface JobAttempt {
  id: string
  nodeId: string
  number: number
}

export async function insertJob(db: Db, row: JobRow): Promise<void> {
  await db.insertInto('jobs').values(row).execute()
}

export async function readJob(db: Db, id: string): Promise<JobRow | undefined> {
  return db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first. `after` is the id of the last job of the previous page. */
export async function listJobs(
  db: Db,
  {
    state,
    tables,
    after,
    limit,
  }: { state?: JobState; tables: string[] | null; after?: string; limit: number },
): Promise<JobRow[]> {
  let query = db
    .selectFrom('jobs')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (state !== undefined) query = query.where('state', '=', state)
  if (tables !== null) query = query.where('table_name', 'in', tables)
  if (after !== undefined) {
    query = query.where(
      sql<boolean>`(created_at, id) < (select created_at, id from jobs where id = ${after})`,
    )
  }
  return query.execute()
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

/** Whether the job still runs, and this is its current attempt. */
export async function isCurrentAttempt(db: Db, { id, nodeId, number }: JobAttempt): Promise<boolean> {
  const row = await db
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', id)
    .where('node_id', '=', nodeId)
    .where('attempts', '=', number)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return row !== undefined
}

/** The node's waiting and running jobs. */
export async function readUnfinishedJobs(db: Db, nodeId: string): Promise<JobRow[]> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('state', 'in', ['waiting', 'running'])
    .where('node_id', '=', nodeId)
    .orderBy('created_at')
    .execute()
}

/**
 * Begins an attempt at a job of the node, even if an earlier attempt was interrupted. Returns null if there
 * is no such job.
 */
export async function beginAttempt(
  db: Db,
  id: string,
  nodeId: string,
  at: string,
): Promise<JobAttempt | null> {
  const row = await db
    .updateTable('jobs')
    .set((job) => ({
      state: 'running' as const,
      attempts: job('attempts', '+', 1),
      progress: null,
      updated_at: at,
    }))
    .where('id', '=', id)
    .where('node_id', '=', nodeId)
    .where('state', 'in', ['waiting', 'running'])
    .returning('attempts')
    .executeTakeFirst()
  return row ? { id, nodeId, number: row.attempts } : null
}

/** Changes the job if the attempt is still its current one. Returns whether it was. */
export async function updateAttempt(
  db: Db | Tx,
  { id, nodeId, number }: JobAttempt,
  change: Partial<JobRow>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('jobs')
    .set(change)
    .where('id', '=', id)
    .where('node_id', '=', nodeId)
    .where('attempts', '=', number)
    .where('state', '=', 'running')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * On PostgreSQL, a node that is only slow misses a lease or two. A node whose lease expired this long ago is
 * considered dead.
 */
const GONE_MS = 60_000

/**
 * Assigns the unfinished jobs of dead nodes to this node. It is one statement: if two nodes try at once, the
 * second finds the jobs assigned to the first, which holds a lease. On SQLite there is only one server at a
 * time.
 */
export async function takeOverJobs({ db, kind }: ControlDatabase, nodeId: string, at: string): Promise<void> {
  const leased = db.selectFrom('nodes').select('id').where('lease_until', '>', databaseTime(-GONE_MS))
  await db
    .updateTable('jobs')
    .set({ state: 'waiting', node_id: nodeId, updated_at: at })
    .where('state', 'in', ['waiting', 'running'])
    .where('node_id', '!=', nodeId)
    .where('node_id', 'not in', kind === 'sqlite' ? [nodeId] : leased)
    .execute()
}

/** Deletes only jobs that have ended: a job that has been waiting for a long time must not be lost. */
export async function deleteEndedJobsBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'jobs', (row) =>
    row.and([row('state', 'in', ['done', 'failed', 'cancelled']), row('created_at', '<', at)]),
  )
}
