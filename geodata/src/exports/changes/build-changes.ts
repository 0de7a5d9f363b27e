import { DamagedSnapshotError } from '../../snapshot/damaged-snapshot-error.ts'
import { SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { verifyFilesFast } from '../../snapshot/verify.ts'
import { type BuiltFile, writeAtomically } from '../write-atomically.ts'
import type { ChangesFormat } from './changes-formats.ts'
import { type ChangeCounts, type ComparedSnapshot, compareSnapshots } from './compare-snapshots.ts'
import { writeChangesNdjson } from './write-changes-ndjson.ts'
import { writeChangesPlaces } from './write-changes-places.ts'

/** Two versions of a dataset whose features keep their ids, and the form of the file. */
export interface ChangesWork {
  before: ComparedSnapshot
  after: ComparedSnapshot
  format: ChangesFormat
}

export interface BuiltChanges {
  counts: ChangeCounts
  /** Null if changes were only counted. */
  file: BuiltFile | null
}

/**
 * Writes the changes between two snapshots to `outPath`, or only counts them. It uses a core for seconds, so a server
 * calls `buildChangesInChildProcess` instead. The files that are read are verified first; a DamagedSnapshotError
 * names the folder.
 */
export async function buildChanges(
  { before, after, format }: ChangesWork,
  outPath: string | null,
  signal?: AbortSignal,
): Promise<BuiltChanges> {
  const { pack, rows } = SNAPSHOT_FILES
  const reads = outPath !== null && format === 'geoparquet' ? [pack, rows] : [pack]
  for (const snapshot of [before, after]) await verify(snapshot, reads)
  if (outPath === null) return { counts: await compareSnapshots(before, after, {}, signal), file: null }
  let counts: ChangeCounts | undefined
  const file = await writeAtomically(outPath, async (partial) => {
    if (format === 'geoparquet') {
      const { writeChangesParquet } = await import('./write-changes-parquet.ts')
      counts = await writeChangesParquet(before, after, partial, signal)
      return undefined
    }
    const write = format === 'places' ? writeChangesPlaces : writeChangesNdjson
    const written = await write(before, after, partial, signal)
    counts = written.counts
    return written.sha256
  })
  return { counts: counts!, file }
}

async function verify({ folder, manifest }: ComparedSnapshot, names: string[]): Promise<void> {
  await verifyFilesFast(folder, manifest, names).catch((error: unknown) => {
    if (!(error instanceof DamagedSnapshotError)) throw error
    throw new DamagedSnapshotError(error.file, error.message, { cause: error, folder })
  })
}
