import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { type Manifest, SNAPSHOT_FILES } from './manifest.ts'
import { parseManifest } from './parse-manifest.ts'

/**
 * Reads the manifest. Throws a DamagedSnapshotError if it is missing, incomplete, or has an unsupported
 * format version.
 */
export async function readManifest(folder: string): Promise<Manifest> {
  const name = SNAPSHOT_FILES.manifest
  const text = await readFile(join(folder, name), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new DamagedSnapshotError(name, `${name} is missing.`, { cause }) : cause
  })
  return parseManifest(text)
}
