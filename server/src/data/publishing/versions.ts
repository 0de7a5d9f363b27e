import type { PublishingSchema } from '@wayleave/contract/records'
import type { Visibility } from '@wayleave/contract/visibilities'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { notFound, Problem } from '../../base/problem.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { newSnapshotName } from '../blobs/snapshot-name.ts'
import type { DatasetState, Version } from '../catalog/dataset.ts'
import { readDatasetState, readVersions, updateDescription } from '../catalog/store.ts'
import {
  deleteDraft,
  deleteOldVersions,
  deleteVersion,
  insertReusing,
  readDraft,
  releaseDraft,
  updateNote,
} from '../catalog/version-store.ts'
import { discardSnapshots } from './discard-snapshots.ts'
import { requireOwner } from './publishing-checks.ts'
import { readSchema, readSchemaTexts, updateSchema } from './schema/schema-store.ts'
import type { StoredSchema } from './schema/stored-schema.ts'

interface VersionDeps {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  log: Logger
  blobs: Blobs
  keepVersions: number | null
  /** The visibility of a dataset that was published as a draft, once it is released. */
  defaultVisibility: Visibility
}

/** Who changes a dataset: `ownerId` is the organization that must own it; null for the operator. */
export interface VersionChange {
  table: string
  origin: Origin
  ownerId?: string | null
}

/** What publishers do with versions after they were compiled, and what they fix about later ones. */
export class Versions {
  readonly #parts: VersionDeps

  constructor(parts: VersionDeps) {
    this.#parts = parts
  }

  /** The version that waits for its release; null if there is none. */
  findDraft(table: string): Promise<Version | null> {
    return readDraft(this.#parts.database.db, table)
  }

  /** The same. Throws 404 if there is none. */
  async draft(table: string): Promise<Version> {
    const draft = await this.findDraft(table)
    if (draft === null) throw notFound(`draft of the dataset "${table}"`)
    return draft
  }

  /** Makes a draft visible: a version that was kept back, or a whole dataset. Returns the current version. */
  async release(change: VersionChange & { visibility?: Visibility | undefined }): Promise<number> {
    const { database, keepVersions, defaultVisibility } = this.#parts
    const { table, visibility = defaultVisibility } = change
    return this.#change(change, 'dataset.released', async (tx, dataset, at) => {
      const version = await releaseDraft(database, tx, table, at)
      const isHidden = dataset.visibility === 'draft'
      if (version === null && !isHidden)
        throw new Problem('conflict', `The dataset "${table}" has no draft to release.`)
      if (isHidden) await updateDescription(tx, table, { visibility }, at)
      const removed =
        version === null || keepVersions === null ? [] : await deleteOldVersions(tx, table, keepVersions)
      const current = version ?? dataset.version
      return { result: current, removed, detail: { version: current } }
    })
  }

  /** Removes the version that was kept back. */
  async discardDraft(change: VersionChange): Promise<void> {
    await this.#change(change, 'dataset.draft-discarded', async (tx) => {
      const removed = await deleteDraft(tx, change.table)
      if (removed === null) throw notFound(`draft of the dataset "${change.table}"`)
      return { result: undefined, removed, detail: {} }
    })
  }

  /** Makes a new version with the snapshot of an earlier one. Returns its number. */
  async rollBack(change: VersionChange & { version: number; note?: string | undefined }): Promise<number> {
    const { database, keepVersions } = this.#parts
    const { table, note = `Rolled back to version ${change.version}.` } = change
    return this.#change(change, 'dataset.rolled-back', async (tx, dataset, at) => {
      const reused = await findVersion(tx, table, change.version)
      if (reused.version === dataset.version)
        throw new Problem('conflict', `Version ${reused.version} of "${table}" is the current version.`)
      const name = newSnapshotName(table)
      const version = await insertReusing(database, tx, reused, { name, note, at })
      const removed = keepVersions === null ? [] : await deleteOldVersions(tx, table, keepVersions)
      return { result: version, removed, detail: { version, reused: reused.version } }
    })
  }

  /** Deletes a version that is not the current one. */
  async delete(change: VersionChange & { version: number }): Promise<void> {
    const { table, version } = change
    await this.#change(change, 'dataset.version-deleted', async (tx, dataset) => {
      const deleted = await findVersion(tx, table, version)
      if (version === dataset.version)
        throw new Problem(
          'conflict',
          `Version ${version} of "${table}" is the current version. Publish another version or roll back before you delete it.`,
        )
      return { result: undefined, removed: await deleteVersion(tx, deleted), detail: { version } }
    })
  }

  /** Changes what the publisher says about a version. */
  async describe(change: VersionChange & { version: number; note: string }): Promise<void> {
    const { table, version, note } = change
    await this.#change(change, 'dataset.version-described', async (tx) => {
      await updateNote(tx, await findVersion(tx, table, version), note)
      return { result: undefined, detail: { version, note } }
    })
  }

  /** What is fixed about the dataset: null if nothing. */
  schema(table: string): Promise<PublishingSchema | null> {
    return readSchema(this.#parts.database.db, table)
  }

  /** The same, and the notes on the columns, as they are stored. */
  schemaTexts(table: string): Promise<{ fixed: string | null; notes: string }> {
    return readSchemaTexts(this.#parts.database.db, table)
  }

  /** Fixes the schema of a dataset, for its next version; null removes it. Titles and units apply at once. */
  async fixSchema(change: VersionChange & { schema: StoredSchema | null }): Promise<void> {
    const { table, schema } = change
    await this.#change(change, 'dataset.schema-changed', async (tx, _dataset, at) => {
      await updateSchema(tx, table, schema, at)
      return { result: undefined, detail: { columns: schema?.columns ?? null } }
    })
  }

  async #change<T>(
    { table, origin, ownerId = null }: VersionChange,
    action: string,
    work: (
      tx: Tx,
      dataset: DatasetState,
      at: string,
    ) => Promise<{ result: T; removed?: string[]; detail: Record<string, unknown> }>,
  ): Promise<T> {
    const { changes, clock } = this.#parts
    const { result, removed = [] } = await changes.commit(async (tx, changed) => {
      const dataset = await readDatasetState(tx, table)
      requireOwner(dataset, table, ownerId)
      if (dataset === undefined) throw notFound(`dataset named "${table.slice(0, 80)}"`)
      const outcome = await work(tx, dataset, clock().toISOString())
      await recordEvent(tx, clock(), origin, {
        action,
        organizationId: dataset.owner?.organizationId ?? null,
        subject: `dataset:${table}`,
        detail: outcome.detail,
      })
      changed('dataset', table)
      return outcome
    })
    await discardSnapshots(this.#parts, removed)
    return result
  }
}

async function findVersion(tx: Tx, table: string, number: number): Promise<Version> {
  const version = (await readVersions(tx, table)).find((one) => one.version === number)
  if (version === undefined) throw notFound(`such version of the dataset "${table}"`)
  return version
}
