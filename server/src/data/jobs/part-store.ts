import type { Db } from '../../base/database/open.ts'
import { queueOf } from './job-kinds.ts'
import type { JobRow } from './job-store.ts'

/** What the parts belong to: the name is unique, such as that of a snapshot. */
export interface Whole {
  table: string
  name: string
}

/** The jobs of all parts of a whole, in any state. */
export async function listParts(db: Db, { table, name }: Whole): Promise<JobRow[]> {
  const rows = await db
    .selectFrom('jobs')
    .selectAll()
    .where('kind', '=', 'part')
    .where('table_name', '=', table)
    .execute()
  return rows.filter(({ queue }) => queue.startsWith(`${queueOf('part', name)} `))
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
