import { type ControlDatabase, type Db, deleteInSteps } from '../database/open.ts'
import { databaseTime } from '../database/postgres-changes.ts'
import type { Tables } from '../database/schema.ts'

export type JobRow = Tables['jobs']

export async function insertJob(db: Db, row: JobRow): Promise<void> {
  await db.insertInto('jobs').values(row).execute()
}

export async function updateJob(db: Db, id: string, change: Partial<JobRow>): Promise<void> {
  await db.updateTable('jobs').set(change).where('id', '=', id).execute()
}

export async function readJob(db: Db, id: string): Promise<JobRow | undefined> {
  return db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
}

/** PostgreSQL's nodes: one that is only slow misses a lease or two; after so many it is gone. */
const GONE_MS = 60_000

/**
 * Jobs of nodes that are gone will not go on. Asked in one statement: a node that comes meanwhile, and its jobs,
 * are seen together or not at all.
 */
export async function failAbandonedJobs(
  { db, kind }: ControlDatabase,
  nodeId: string,
  problem: string,
  at: string,
): Promise<void> {
  const leased = db.selectFrom('nodes').select('id').where('lease_until', '>', databaseTime(-GONE_MS))
  await db
    .updateTable('jobs')
    .set({ state: 'failed', problem, updated_at: at })
    .where('state', 'in', ['waiting', 'running'])
    .where('node_id', 'not in', kind === 'sqlite' ? [nodeId] : leased)
    .execute()
}

export async function deleteJobsBefore(database: ControlDatabase, at: string): Promise<void> {
  await deleteInSteps(database, 'jobs', (row) => row('created_at', '<', at))
}
