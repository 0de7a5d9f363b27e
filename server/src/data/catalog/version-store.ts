import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import { cancelPublishing } from '../jobs/job-store.ts'
import type { DatasetDescription, Version } from './dataset.ts'
import {
  columnsOf,
  insertVersionRow,
  isSnapshotNamed,
  type NewVersion,
  snapshotFolder,
  takeVersionNumber,
  toVersion,
} from './store.ts'
import { forgetOldChanges } from './version-changes-store.ts'

/** What the release of a draft changes besides the version. */
interface DraftChanges {
  description: DatasetDescription
  /** What was fixed about the columns, in JSON. */
  schema?: string | undefined
}

/** Inserts a version that is kept back, in place of an earlier draft. Returns the snapshots to discard. */
export async function insertDraft(tx: Tx, added: NewVersion): Promise<string[]> {
  const removed = await deleteDraft(tx, added.table)
  const changes: DraftChanges = { description: added.description, schema: added.schema }
  await insertVersionRow(tx, added, { draft: JSON.stringify(changes) })
  return removed ?? []
}

/** One version for each snapshot that the table names, newest first, also of a draft. For what checks and copies files. */
export async function readStoredVersions(db: Db, table: string): Promise<Version[]> {
  const rows = await db
    .selectFrom('versions')
    .selectAll()
    .where('table_name', '=', table)
    .orderBy('version', 'desc')
    .execute()
  return [...new Map(rows.map(toVersion).map((version) => [version.snapshot, version])).values()]
}

export async function readDraft(db: Db, table: string): Promise<Version | null> {
  const row = await draftsOf(db, table).selectAll().executeTakeFirst()
  return row ? toVersion(row) : null
}

/** Returns the snapshots to discard; null if there is no draft. */
export async function deleteDraft(tx: Tx, table: string): Promise<string[] | null> {
  const drafts = await draftsOf(tx, table).select(['version', snapshotFolder]).execute()
  if (drafts.length === 0) return null
  await tx.deleteFrom('versions').where('table_name', '=', table).where('draft', 'is not', null).execute()
  return unreferenced(tx, drafts)
}

/** Makes the draft the current version, with its description. Returns its number; null if there is no draft. */
export async function releaseDraft(
  database: ControlDatabase,
  tx: Tx,
  table: string,
  at: string,
): Promise<number | null> {
  const row = await draftsOf(tx, table).selectAll().executeTakeFirst()
  if (row === undefined) return null
  const current = await lockDataset(database, tx, table)
  // Numbers only increase: a version that was published meanwhile has a higher one.
  const version = row.version > current ? row.version : await takeVersionNumber(tx, table)
  const { description, schema } = JSON.parse(row.draft!) as DraftChanges
  await tx
    .updateTable('versions')
    .set({ version, draft: null, created_at: at })
    .where('table_name', '=', table)
    .where('version', '=', row.version)
    .execute()
  await tx
    .updateTable('datasets')
    .set({
      ...columnsOf(description),
      ...(schema !== undefined && { publishing_schema: schema }),
      current_version: version,
      updated_at: at,
    })
    .where('table_name', '=', table)
    .execute()
  return version
}

/** Makes a new current version with the snapshot of an earlier one. `name` is unique and names no folder. */
export async function insertReusing(
  database: ControlDatabase,
  tx: Tx,
  reused: Version,
  { name, note, at }: { name: string; note: string; at: string },
): Promise<number> {
  const { table, snapshot } = reused
  await lockDataset(database, tx, table)
  const version = await takeVersionNumber(tx, table)
  await insertVersionRow(tx, { ...reused, version, snapshot: name, note, at }, { reused_snapshot: snapshot })
  await tx
    .updateTable('datasets')
    .set({ current_version: version, updated_at: at })
    .where('table_name', '=', table)
    .execute()
  return version
}

/** Deletes one version. Returns the snapshots to discard. */
export async function deleteVersion(tx: Tx, { table, version, snapshot }: Version): Promise<string[]> {
  await tx.deleteFrom('versions').where('table_name', '=', table).where('version', '=', version).execute()
  await forgetOldChanges(tx, table)
  return unreferenced(tx, [{ snapshot }])
}

export async function updateNote(tx: Tx, { table, version }: Version, note: string): Promise<void> {
  await tx
    .updateTable('versions')
    .set({ note })
    .where('table_name', '=', table)
    .where('version', '=', version)
    .execute()
}

/**
 * Deletes all versions except the `keep` newest and the version `served`. Returns the snapshots that no version
 * references any more.
 */
export async function deleteOldVersions(
  tx: Tx,
  table: string,
  keep: number,
  served: number | null = null,
): Promise<string[]> {
  const rows = await tx
    .selectFrom('versions')
    .select(['version', snapshotFolder])
    .where('table_name', '=', table)
    .where('draft', 'is', null)
    .orderBy('version', 'desc')
    .execute()
  const old = rows.slice(keep).filter(({ version }) => version !== served)
  if (old.length > 0) {
    await tx
      .deleteFrom('versions')
      .where('table_name', '=', table)
      .where(
        'version',
        'in',
        old.map((row) => row.version),
      )
      .execute()
    await forgetOldChanges(tx, table)
  }
  return unreferenced(tx, old)
}

/** The snapshots of deleted versions that no other version references. */
async function unreferenced(tx: Tx, deleted: { snapshot: string }[]): Promise<string[]> {
  const snapshots = [...new Set(deleted.map((row) => row.snapshot))]
  const named = await Promise.all(snapshots.map((snapshot) => isSnapshotNamed(tx, snapshot)))
  return snapshots.filter((_, i) => !named[i])
}

/**
 * Deletes a dataset with what is still to be published as its next version. Returns its snapshots, or null if there is
 * no such dataset.
 */
export async function deleteDataset(
  database: ControlDatabase,
  tx: Tx,
  table: string,
  at: string,
): Promise<string[] | null> {
  const existingDataset = await database
    .forUpdate(tx.selectFrom('datasets').select('table_name').where('table_name', '=', table))
    .executeTakeFirst()
  if (!existingDataset) return null
  // In the order of a publication, which locks the dataset, then its job, then its source.
  await cancelPublishing(tx, table, at)
  const rows = await tx
    .selectFrom('versions')
    .select(snapshotFolder)
    .where('table_name', '=', table)
    .execute()
  await tx.deleteFrom('versions').where('table_name', '=', table).execute()
  // Its source would publish it again.
  await tx.deleteFrom('sources').where('table_name', '=', table).execute()
  await tx.deleteFrom('datasets').where('table_name', '=', table).execute()
  return unreferenced(tx, rows)
}

function draftsOf(db: Db, table: string) {
  return db.selectFrom('versions').where('table_name', '=', table).where('draft', 'is not', null)
}

/** Locks the row of a dataset for the transaction, and returns the number of its current version. */
async function lockDataset(database: ControlDatabase, tx: Tx, table: string): Promise<number> {
  const { current_version } = await database
    .forUpdate(tx.selectFrom('datasets').select('current_version').where('table_name', '=', table))
    .executeTakeFirstOrThrow()
  return current_version
}
