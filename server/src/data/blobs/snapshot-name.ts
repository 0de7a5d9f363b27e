import { randomBase62 } from '../../base/id.ts'

const SNAPSHOT_NAME = /^[a-z][a-z0-9_]{0,62}_[0-9A-Za-z]{12}$/

/** The table's name and 12 random characters: snapshot names are unique, also across installations. */
export function newSnapshotName(table: string): string {
  return `${table}_${randomBase62(12)}`
}

/** Anything else in the snapshots folder is not ours: `lost+found`, a backup, a note. */
export function isSnapshotName(name: string): boolean {
  return SNAPSHOT_NAME.test(name)
}
