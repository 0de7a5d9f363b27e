import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, SNAPSHOT_FILES, syncFolder } from '@wayleave/geodata/snapshot'
import { snapshotKey } from '../blobs/object-keys.ts'
import { downloadObject } from '../storage/download-object.ts'
import { ObjectMissingError, type ObjectStore } from '../storage/object-store.ts'
import { CopyError } from './copy-error.ts'

export type SnapshotFiles = Manifest['files']

const BUFFER_BYTES = 1 << 20

/** A snapshot that is lost or damaged at its source; the message names the file. */
export class DamagedSnapshotError extends CopyError {
  override name = 'DamagedSnapshotError'
}

export interface CopiedSnapshot {
  bytes: number
  manifestSha256: string
}

/** Copies a file of a snapshot to a path, and returns the SHA-256 of what was copied. */
export type CopySource = (file: string, to: string) => Promise<string>

export function fromFolder(folder: string): CopySource {
  return (file, to) => copyFile(join(folder, file), to)
}

export function fromBucket(bucket: ObjectStore, snapshot: string): CopySource {
  return async (file, to) => {
    const key = snapshotKey(snapshot, file)
    const object = await bucket.head(key)
    if (!object) throw new ObjectMissingError(key)
    const hash = createHash('sha256')
    await downloadObject(bucket, object, to, (part) => hash.update(part))
    return hash.digest('hex')
  }
}

/**
 * Copies a snapshot without its exports into the folder `root`, atomically, and checks every byte against the
 * checksums on the way. The copy is synced to disk when this returns.
 */
export async function copySnapshot(
  source: CopySource,
  root: string,
  name: string,
  files: SnapshotFiles,
): Promise<CopiedSnapshot> {
  const partial = join(root, `.partial-${name}`)
  await rm(partial, { recursive: true, force: true })
  await mkdir(partial, { recursive: true, mode: 0o700 })
  try {
    let bytes = 0
    for (const [file, expected] of Object.entries(files)) {
      const sha256 = await source(checked(file), join(partial, file))
      if (sha256 !== expected.sha256) throw new DamagedSnapshotError(`${file} has another checksum`)
      bytes += expected.bytes
    }
    const manifestSha256 = await source(SNAPSHOT_FILES.manifest, join(partial, SNAPSHOT_FILES.manifest))
    await requireSameFiles(partial, files)
    await syncFolder(partial)
    const place = join(root, name)
    await rm(place, { recursive: true, force: true })
    await rename(partial, place)
    await syncFolder(root)
    return { bytes: bytes + (await stat(join(place, SNAPSHOT_FILES.manifest))).size, manifestSha256 }
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof ObjectMissingError) {
      throw new DamagedSnapshotError(`a file is missing`, { cause: error })
    }
    throw error
  }
}

/**
 * Returns the size of an earlier copy if it exists with the right file sizes: its bytes were checked when it
 * was made, and it never changes. Null means that it must be copied (again).
 */
export async function copiedBefore(
  root: string,
  name: string,
  files: SnapshotFiles,
): Promise<CopiedSnapshot | null> {
  const folder = join(root, name)
  try {
    let bytes = 0
    for (const [file, expected] of Object.entries(files)) {
      if ((await stat(join(folder, checked(file)))).size !== expected.bytes) return null
      bytes += expected.bytes
    }
    await requireSameFiles(folder, files)
    const manifest = await readFile(join(folder, SNAPSHOT_FILES.manifest))
    return {
      bytes: bytes + manifest.length,
      manifestSha256: createHash('sha256').update(manifest).digest('hex'),
    }
  } catch (error) {
    if (error instanceof DamagedSnapshotError || (error as NodeJS.ErrnoException).code === 'ENOENT')
      return null
    throw error
  }
}

async function requireSameFiles(folder: string, files: SnapshotFiles): Promise<void> {
  let manifest: Partial<Manifest>
  try {
    manifest = JSON.parse(await readFile(join(folder, SNAPSHOT_FILES.manifest), 'utf8')) as Partial<Manifest>
  } catch (error) {
    if (error instanceof SyntaxError) throw new DamagedSnapshotError(`${SNAPSHOT_FILES.manifest} is not JSON`)
    throw error
  }
  const names = Object.keys(files)
  const same =
    Object.keys(manifest.files ?? {}).length === names.length &&
    names.every((name) => manifest.files?.[name]?.sha256 === files[name]!.sha256)
  if (!same) throw new DamagedSnapshotError(`${SNAPSHOT_FILES.manifest} is not the one in the catalog`)
}

/** Reads the source once: the checksum is computed from the bytes that are written. */
async function copyFile(from: string, to: string): Promise<string> {
  const hash = createHash('sha256')
  const source = await open(from, 'r')
  try {
    const target = await open(to, 'wx', 0o600)
    try {
      const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, BUFFER_BYTES)
        if (bytesRead === 0) break
        const part = buffer.subarray(0, bytesRead)
        hash.update(part)
        await target.writeFile(part)
      }
      await target.sync()
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
  return hash.digest('hex')
}

/** File names come from a manifest; reject path traversal. */
function checked(file: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(file))
    throw new DamagedSnapshotError(`"${file}" is not a file name`)
  return file
}
