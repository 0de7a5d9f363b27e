import { join } from 'node:path'
import { type Revision, SourceError } from '@wayleave/geodata/compile'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Dataset } from '../catalog/dataset.ts'
import { readDataset } from '../catalog/store.ts'
import type { PublishRequest } from './publish-request.ts'

/**
 * Compiles with the files of the current version, if the request has changes to it. They stay in their place meanwhile.
 * `revised` is that version; null for a whole dataset.
 */
export async function withRevision<T>(
  { database, blobs }: { database: ControlDatabase; blobs: Blobs },
  { table, mode, deleteMissing }: Pick<PublishRequest, 'table' | 'mode' | 'deleteMissing'>,
  compile: (revision: Revision | null) => Promise<T>,
): Promise<T & { revised: Dataset | null }> {
  if (mode === undefined) return { ...(await compile(null)), revised: null }
  const revised = await readDataset(database.db, table)
  if (revised === undefined)
    throw new SourceError(
      `There is no dataset "${table}" yet that could be changed. Publish the whole dataset first.`,
    )
  const { snapshot, manifest } = revised
  const compiled = await blobs.withFiles(snapshot, manifest, async () => {
    const folder = await blobs.localFolder(snapshot)
    const { columns, id, geometryType, timeColumn } = manifest
    return compile({
      mode,
      ...(deleteMissing && { deleteMissing }),
      before: {
        rows: join(folder, SNAPSHOT_FILES.rows),
        ids: SNAPSHOT_FILES.ids in manifest.files ? join(folder, SNAPSHOT_FILES.ids) : null,
        manifest: { columns, id, geometryType, timeColumn },
      },
    })
  })
  return { ...compiled, revised }
}

/** Throws if another version was published since the changes were applied: its features would be lost. */
export async function requireCurrent(tx: Tx, { table, version, snapshot }: Dataset): Promise<void> {
  const current = await readDataset(tx, table)
  if (current?.version === version && current.snapshot === snapshot) return
  throw new SourceError(
    `Another version of "${table}" was published while version ${version} was changed: nothing was published. Publish the changes again.`,
  )
}
