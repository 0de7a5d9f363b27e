import type { Manifest } from '@wayleave/geodata/snapshot'
import type { Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import type { Dataset, DatasetDescription } from '../catalog/dataset.ts'
import { insertVersion, readDataset, takeVersionNumber } from '../catalog/store.ts'
import { deleteOldVersions, insertDraft } from '../catalog/version-store.ts'
import { discardSnapshots } from './discard-snapshots.ts'
import type { PublishingDeps, PublishRequest } from './publish-request.ts'
import { requirePublisher, titleOf } from './publishing-checks.ts'
import { requireCurrent } from './revise-version.ts'
import { columnNotesOf, schemaText } from './schema/stored-schema.ts'

/** Makes a compiled version visible, or a draft, in one transaction; `finish` runs in it too. */
export async function makeVisible(
  parts: PublishingDeps,
  request: PublishRequest,
  { snapshot, manifest, revised }: { snapshot: string; manifest: Manifest; revised: Dataset | null },
  origin: Origin,
  finish: (tx: Tx, version: number, isDraft: boolean) => Promise<void>,
): Promise<void> {
  const { database, changes, clock, keepVersions, defaultVisibility } = parts
  const { table, ownerId = null, schema, draft = false } = request
  const removedSnapshots = await changes.commit(async (tx, changed) => {
    const at = clock()
    if (ownerId !== null) await requirePublisher(tx, table, ownerId)
    const number = await takeVersionNumber(tx, table)
    if (revised) await requireCurrent(tx, revised)
    const dataset = draft ? await readDataset(tx, table) : undefined
    // A dataset that only its publishers see needs no version that is kept back.
    const isKeptBack = dataset !== undefined && dataset.visibility !== 'draft'
    const version = {
      table,
      ownerId,
      version: number,
      snapshot,
      manifest,
      hasSample: request.sample !== false,
      note: request.note ?? '',
      at: at.toISOString(),
      description: descriptionOf(request, dataset === undefined),
      standardTitle: titleOf(table),
      standardVisibility: defaultVisibility,
      schema: schema && schemaText(schema),
    }
    let removed: string[] = []
    if (isKeptBack) removed = await insertDraft(tx, version)
    else {
      await insertVersion(database, tx, version)
      if (keepVersions !== null) removed = await deleteOldVersions(tx, table, keepVersions)
    }
    await recordEvent(tx, at, origin, {
      action: isKeptBack ? 'dataset.drafted' : 'dataset.published',
      organizationId: ownerId,
      subject: `dataset:${table}`,
      detail: { version: number, rows: manifest.rows, file: manifest.source.file },
    })
    changed('dataset', table)
    await finish(tx, number, isKeptBack || draft)
    return removed
  })
  await discardSnapshots(parts, removedSnapshots)
}

/** The description with the notes of a new schema. A new dataset that is published as a draft is hidden. */
function descriptionOf({ description, schema, draft }: PublishRequest, isNew: boolean): DatasetDescription {
  return {
    ...description,
    columnNotes: description.columnNotes ?? (schema && columnNotesOf(schema)),
    ...(draft && isNew && { visibility: 'draft' as const }),
  }
}
