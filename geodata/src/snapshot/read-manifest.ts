import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import { type Manifest, SNAPSHOT_FILES } from './manifest.ts'
import { parseManifest } from './parse-manifest.ts'

/** Throws a DamagedSnapshotError if the manifest is missing, incomplete or of an unsupported version. */
export async function readManifest(folder: string): Promise<Manifest> {
  const name = SNAPSHOT_FILES.manifest
  const text = await readFile(join(folder, name), 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new DamagedSnapshotError(name, `${name} is missing.`, { cause }) : cause
  })
  return parseManifest(text)
}
