import { FeatureSlices, readPack } from '../../pack/pack-reader.ts'
import { readBlockChecksums } from '../../snapshot/block-checksums.ts'
import { type IndexParts, readIndex } from '../../snapshot/index-file.ts'
import { type Manifest, SNAPSHOT_FILES } from '../../snapshot/manifest.ts'
import { PackFeatures } from './pack-features.ts'

export interface ComparedSnapshot {
  folder: string
  manifest: Manifest
}

/** How many features differ between two versions. */
export interface ChangeCounts {
  added: number
  removed: number
  changed: number
}

/** A feature's bytes in a buffer, valid during the call. */
export interface FeatureBytes {
  bytes: Buffer
  start: number
  end: number
}

/** Called with each difference: first those of the newer version in its order, then removed features in theirs. */
export interface ChangeVisitor {
  added?(feature: FeatureBytes, position: number): void
  changed?(feature: FeatureBytes, position: number, before: FeatureBytes): void
  removed?(before: FeatureBytes, position: number): void
}

/** Whether features keep their ids from version to version: not if these are row numbers. */
export function hasStableIds({ id }: Pick<Manifest, 'id'>): boolean {
  return id.isRowNumber === false
}

/**
 * Compares two versions of a dataset feature by feature, by their ids. A feature is unchanged if its GeoJSON text in
 * both packs is the same, byte for byte.
 *
 * Most features follow each other in the same order in both versions, so each is first compared with the successor
 * of the last match; only if that is another one, its id is looked up. Memory: the two indexes and one bit per
 * feature.
 */
export async function compareSnapshots(
  before: ComparedSnapshot,
  after: ComparedSnapshot,
  visitor: ChangeVisitor = {},
  signal?: AbortSignal,
): Promise<ChangeCounts> {
  const old = new PackFeatures(before.folder, await indexOf(before))
  try {
    const matched = new Uint8Array(Math.ceil(old.rows / 8))
    const counts: ChangeCounts = { added: 0, removed: 0, changed: 0 }
    const slices = new FeatureSlices()
    let position = 0
    let next = 0
    for await (const { bytes, count, starts, ends } of readPack(after.folder, after.manifest, signal)) {
      for (let i = 0; i < count; i++, position++) {
        const feature = { bytes, start: starts[i]!, end: ends[i]! }
        const match = matchOf(old, next, feature, slices)
        if (match < 0) {
          counts.added++
          visitor.added?.(feature, position)
          continue
        }
        next = match + 1
        matched[match >> 3]! |= 1 << (match & 7)
        if (old.equals(bytes, feature.start, feature.end)) continue
        counts.changed++
        visitor.changed?.(feature, position, old)
      }
    }
    for (let i = 0; i < old.rows; i++) {
      if (matched[i >> 3]! & (1 << (i & 7))) continue
      counts.removed++
      if (!visitor.removed) continue
      old.read(i)
      visitor.removed(old, i)
    }
    return counts
  } finally {
    old.close()
  }
}

/** Reads the feature with the same id. Returns its position, or -1 if there is none. */
function matchOf(
  old: PackFeatures,
  next: number,
  { bytes, start, end }: FeatureBytes,
  slices: FeatureSlices,
): number {
  if (next < old.rows) {
    old.read(next)
    if (old.equals(bytes, start, end)) return next
  }
  slices.locateId(bytes, start)
  if (next < old.rows && old.hasId(bytes, slices.idStart, slices.idEnd)) return next
  return old.find(bytes, slices.idStart, slices.idEnd)
}

export async function indexOf({ folder, manifest }: ComparedSnapshot): Promise<IndexParts> {
  const name = SNAPSHOT_FILES.index
  const checksums = await readBlockChecksums(folder, manifest)
  return readIndex(folder, manifest.files[name]!, checksums?.get(name))
}
