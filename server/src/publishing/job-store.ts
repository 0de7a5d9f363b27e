import { type ControlDatabase, type Db, deleteInSteps, type Tx } from '../database/open.ts'
import { databaseTime } from '../database/postgres-changes.ts'
import type { Tables } from '../database/schema.ts'

export type JobRow = Tables['jobs']

/** One attempt of one node at a job. A job that another node took over, or that has ended, matches no attempt. */
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

/** The node's jobs that wait or run. */
export async function readUnfinishedJobs(db: Db, nodeId: string): Promise<JobRow[]> {
  return db
    .selectFrom('jobs')
    .selectAll()
    .where('state', 'in', ['waiting', 'running'])
    .where('node_id', '=', nodeId)
    .orderBy('created_at')
    .execute()
}

/** Begins an attempt at a job of the node, also if an attempt before was cut off. Null if there is no such job. */
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

/** Changes the job if the attempt still is the job's. Returns whether it was. */
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

/** PostgreSQL's nodes: one that is only slow misses a lease or two; after so many it is gone. */
const GONE_MS = 60_000

/**
 * Makes the unfinished jobs of nodes that are gone this node's. One statement: of two nodes that try at once,
 * the second finds the jobs with the first, which holds a lease. On SQLite there is one server at a time.
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

/** Only jobs that have ended: one that waits for long must not be forgotten. */
export async function deleteEndedJobsBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'jobs', (row) =>
    row.and([row('state', 'in', ['done', 'failed']), row('created_at', '<', at)]),
  )
}
