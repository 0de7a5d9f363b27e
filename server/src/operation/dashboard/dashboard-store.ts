import type { JobState } from '@wayleave/contract/job-states'
import { type ExpressionBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Db } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export interface CountedGroup {
  name: string
  calls: number
  credits: number
}

const TOP = 10

/** The calls of all keys since a date, by day. */
export async function usageByDay(db: Db, since: string): Promise<CountedGroup[]> {
  return summed(usageSince(db, since).groupBy('date').select('date as name').orderBy('date'))
}

/** The most used datasets since a date. */
export async function usageByDataset(db: Db, since: string): Promise<CountedGroup[]> {
  const query = usageSince(db, since).where('table_name', '<>', '').groupBy('table_name')
  return summed(query.select('table_name as name').orderBy('calls', 'desc').orderBy('name').limit(TOP))
}

/** The organizations with the most calls since a date. */
export async function usageByOrganization(db: Db, since: string): Promise<CountedGroup[]> {
  const query = usageSince(db, since).where('organization_id', 'is not', null).groupBy('organization_id')
  const name = sql<string>`organization_id`.as('name')
  return summed(query.select(name).orderBy('calls', 'desc').orderBy('name').limit(TOP))
}

export async function jobsByState(db: Db): Promise<Record<JobState, number>> {
  const counts = { waiting: 0, running: 0, done: 0, failed: 0, cancelled: 0 }
  const rows = await db
    .selectFrom('jobs')
    .select(['state', ({ fn }) => fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
  for (const { state, count } of rows) counts[state] = Number(count)
  return counts
}

export async function countRows(db: Db) {
  const [organizations, users, keys, versions] = await Promise.all([
    db
      .selectFrom('organizations')
      .where('closed_at', 'is', null)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('users')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('api_keys')
      .where('kind', '=', 'key')
      .where('revoked_at', 'is', null)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('versions')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ])
  return {
    organizations: Number(organizations.count),
    users: Number(users.count),
    keys: Number(keys.count),
    versions: Number(versions.count),
  }
}

function usageSince(db: Db, since: string) {
  return db
    .selectFrom('usage')
    .where('date', '>=', since)
    .select(({ fn }: ExpressionBuilder<Tables, 'usage'>) => [
      fn.sum<number>('calls').as('calls'),
      fn.sum<number>('credits').as('credits'),
    ])
}

/** PostgreSQL returns sums as text. */
async function summed(
  query: SelectQueryBuilder<Tables, 'usage', { name: string; calls: number; credits: number }>,
): Promise<CountedGroup[]> {
  const rows = await query.execute()
  return rows.map(({ name, calls, credits }) => ({ name, calls: Number(calls), credits: Number(credits) }))
}
