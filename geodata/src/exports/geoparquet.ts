import { constants } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'

/**
 * The GeoParquet export is the snapshot's own file, byte for byte, and a server sends that one. This function
 * is for callers who want a separate file; it shares the disk's blocks (reflink) if the file system supports
 * it.
 */
export async function writeGeoparquet(
  folder: string,
  manifest: Manifest,
  partial: string,
): Promise<string | undefined> {
  await copyFile(join(folder, SNAPSHOT_FILES.rows), partial, constants.COPYFILE_FICLONE)
  return manifest.files[SNAPSHOT_FILES.rows]?.sha256
}
