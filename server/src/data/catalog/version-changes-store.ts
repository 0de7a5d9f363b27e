import type { Db, Tx } from '../../base/database/open.ts'
import type { Version, VersionChanges } from './dataset.ts'

/** The versions that are not compared with their predecessors yet, the oldest first. */
export async function readUncompared(db: Db, limit: number): Promise<{ table: string; version: number }[]> {
  return db
    .selectFrom('versions')
    .select(['table_name as table', 'version'])
    .where('changes', '=', '')
    .orderBy('created_at')
    .limit(limit)
    .execute()
}

/** Null if there is nothing to compare with. */
export async function storeChanges(
  db: Db | Tx,
  { table, version }: Pick<Version, 'table' | 'version'>,
  changes: VersionChanges | null,
): Promise<void> {
  await db
    .updateTable('versions')
    .set({ changes: JSON.stringify(changes) })
    .where('table_name', '=', table)
    .where('version', '=', version)
    .execute()
}
