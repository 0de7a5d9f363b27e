import type { Db } from './open.ts'

/** Processes that missed changes this old begin with empty caches. PostgreSQL's nodes do this by its clock. */
export async function forgetChangesBefore(db: Db, at: string): Promise<void> {
  await db.deleteFrom('changes').where('at', '<', at).execute()
}
