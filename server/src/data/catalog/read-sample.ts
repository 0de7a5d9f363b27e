import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DamagedSnapshotError, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import type { Blobs } from '../blobs/blobs.ts'
import type { Version } from './dataset.ts'

/** The sample's bytes. Throws a DamagedSnapshotError if they differ from those that were published. */
export async function readSample(blobs: Blobs, { snapshot, manifest }: Version): Promise<Buffer> {
  const name = SNAPSHOT_FILES.sample
  const { folder, fetch } = blobs.files(snapshot, manifest)
  await fetch([name])
  const bytes = await readFile(join(folder, name)).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? new DamagedSnapshotError(name, `${name} is missing.`, { cause }) : cause
  })
  if (hash('sha256', bytes) !== manifest.files[name]?.sha256)
    throw new DamagedSnapshotError(name, `${name} has another checksum than the manifest says.`)
  return bytes
}
