import type { Db } from '../../base/database/open.ts'
import { queueOf } from './job-kinds.ts'
import type { JobRow } from './job-store.ts'

/** What the parts belong to. */
interface Whole {
  table: string
  snapshot: string
}

/** The jobs of all parts of a build, in any state. */
export async function listParts(db: Db, { table, snapshot }: Whole): Promise<JobRow[]> {
  const rows = await db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', 'part')
    .where('table_name', '=', table)
    .execute()
  return rows.filter(({ queue }) => queue.startsWith(`${queueOf('part', snapshot)} `))
}

/** Deletes the jobs of parts that have ended: their results say more, and they may be hundreds. */
export async function deleteEndedParts(db: Db, whole: Whole): Promise<void> {
  const ids = (await listParts(db, whole)).map(({ id }) => id)
  if (ids.length === 0) return
  await db
    .deleteFrom('jobs')
    .where('id', 'in', ids)
    .where('state', 'in', ['done', 'failed', 'cancelled'])
    .execute()
}
