import type { BuiltFile, ChangeCounts, ChangesFormat } from '@wayleave/geodata/exports'
import { DamagedSnapshotError } from '@wayleave/geodata/snapshot'
import type { DataWork } from '../../../base/data-work.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import type { Version } from '../../catalog/dataset.ts'
import type { SnapshotHealth } from '../../catalog/snapshot-health.ts'
import type { ExportRequest } from './export-file.ts'

interface CompareDeps {
  blobs: Blobs
  health: SnapshotHealth
  work: DataWork
}

/** The file of the changes between two versions. */
export async function buildChangesFile(
  { since, version, format }: ExportRequest,
  outPath: string,
  deps: CompareDeps,
  signal: AbortSignal,
): Promise<BuiltFile> {
  const form = format.format.slice('changes-'.length) as ChangesFormat
  const { file } = await compare({ since: since!, version }, form, outPath, deps, signal)
  return file!
}

/** The numbers of features that were added, removed and changed, without a file. */
export async function countChanges(
  versions: { since: Version; version: Version },
  deps: CompareDeps,
  signal: AbortSignal,
): Promise<ChangeCounts> {
  return (await compare(versions, 'ndjson', null, deps, signal)).counts
}

/** Damage is recorded for the version whose file is damaged. */
async function compare(
  { since, version }: { since: Version; version: Version },
  format: ChangesFormat,
  outPath: string | null,
  { blobs, health, work }: CompareDeps,
  signal: AbortSignal,
) {
  const before = { folder: await blobs.localFolder(since.snapshot), manifest: since.manifest }
  const after = { folder: await blobs.localFolder(version.snapshot), manifest: version.manifest }
  const run = () =>
    blobs.withFiles(since.snapshot, since.manifest, () =>
      blobs.withFiles(version.snapshot, version.manifest, () =>
        work.buildChanges({ before, after, format }, outPath, signal),
      ),
    )
  return health.reading(version, () =>
    run().catch(async (error: unknown) => {
      const isEarlier = error instanceof DamagedSnapshotError && error.folder === before.folder
      throw isEarlier ? await health.problemOf(since, error) : error
    }),
  )
}
