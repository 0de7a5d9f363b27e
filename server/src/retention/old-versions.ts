import { deleteOldVersions, readTables, readVersions } from '../catalog/store.ts'
import type { Changes } from '../database/changes/changes.ts'
import type { Db } from '../database/open.ts'

export interface OldVersionDeps {
  db: Db
  changes: Changes
  /** Removes the files of a snapshot that no version references any more. */
  removeSnapshot(snapshot: string): Promise<void>
}

/**
 * Publishing removes old versions of its own dataset. This does the same for all datasets, after
 * WAYLEAVE_KEEP_VERSIONS was lowered. Returns the number of removed versions.
 */
export async function removeOldVersions(
  { db, changes, removeSnapshot }: OldVersionDeps,
  keep: number,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<number> {
  let removed = 0
  for (const table of await readTables(db)) {
    const versions = await readVersions(db, table)
    if (versions.length <= keep) continue
    if (dryRun) {
      removed += versions.length - keep
      continue
    }
    const snapshots = await changes.commit(async (tx, changed) => {
      changed('dataset', table)
      return deleteOldVersions(tx, table, keep)
    })
    for (const snapshot of snapshots) await removeSnapshot(snapshot)
    removed += snapshots.length
  }
  return removed
}
