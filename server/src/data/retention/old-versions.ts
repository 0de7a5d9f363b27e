import type { Changes } from '../../base/database/changes/changes.ts'
import type { Db } from '../../base/database/open.ts'
import type { Version } from '../catalog/dataset.ts'
import { readTables, readVersions } from '../catalog/store.ts'
import { deleteOldVersions } from '../catalog/version-store.ts'

export interface OldVersionDeps {
  db: Db
  changes: Changes
  /** Removes the files of a snapshot that no version references any more. */
  removeSnapshot(snapshot: string): Promise<void>
  /** Whether the files of a version are as they were published. */
  isWhole(version: Version): Promise<boolean>
}

/**
 * Publishing removes old versions of its own dataset. This does the same for all datasets, after
 * WAYLEAVE_KEEP_VERSIONS was lowered. If all versions that are to be kept are damaged, the newest one that is
 * not stays too, because it is the one that is served. Returns the number of removed versions.
 */
export async function removeOldVersions(
  { db, changes, removeSnapshot, isWhole }: OldVersionDeps,
  keep: number,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<number> {
  let removed = 0
  for (const table of await readTables(db)) {
    const versions = await readVersions(db, table)
    if (versions.length <= keep) continue
    const served = await newestWhole(versions, isWhole)
    const old = versions.slice(keep).filter(({ version }) => version !== served)
    if (dryRun) {
      removed += old.length
      continue
    }
    const snapshots = await changes.commit(async (tx, changed) => {
      changed('dataset', table)
      return deleteOldVersions(tx, table, keep, served)
    })
    for (const snapshot of snapshots) await removeSnapshot(snapshot)
    removed += snapshots.length
  }
  return removed
}

/** The number of the newest version that is not damaged; null if there is none. */
async function newestWhole(
  versions: readonly Version[],
  isWhole: OldVersionDeps['isWhole'],
): Promise<number | null> {
  for (const version of versions) if (await isWhole(version)) return version.version
  return null
}
