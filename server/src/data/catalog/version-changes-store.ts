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

/** Has the versions compared again whose predecessor was deleted. */
export async function forgetOldChanges(tx: Tx, table: string): Promise<void> {
  const rows = await tx
    .selectFrom('versions')
    .select(['version', 'changes'])
    .where('table_name', '=', table)
    .execute()
  const kept = new Set(rows.map(({ version }) => version))
  const outdated = rows.filter(({ changes }) => {
    const since = JSON.parse(changes || 'null') as VersionChanges | null
    return since !== null && !kept.has(since.from)
  })
  if (outdated.length === 0) return
  const versions = outdated.map(({ version }) => version)
  await tx
    .updateTable('versions')
    .set({ changes: '' })
    .where('table_name', '=', table)
    .where('version', 'in', versions)
    .execute()
}
