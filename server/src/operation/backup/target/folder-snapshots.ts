import { createHash, hash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Manifest, SNAPSHOT_FILES, syncFolder, verifySnapshot } from '@wayleave/geodata/snapshot'
import { downloadObject } from '../../../base/storage/download-object.ts'
import { FolderStore } from '../../../base/storage/folder-store.ts'
import { ObjectMissingError } from '../../../base/storage/object-store.ts'
import type { BackedUpSnapshot } from '../backup-record.ts'
import {
  type CopiedSnapshot,
  checkedName,
  DamagedSnapshotError,
  requireSameFiles,
  type SnapshotCopies,
  type SnapshotFiles,
  type SnapshotSource,
} from './snapshot-copies.ts'

const BUFFER_BYTES = 1 << 20

/** A snapshot in a folder, as a source of copies. */
export function fromFolder(folder: string): SnapshotSource {
  return { store: new FolderStore(folder), keyOf: (file) => file }
}

/** Copies of snapshots in a folder. A copy is synced to disk when `copy` returns. */
export class FolderSnapshots implements SnapshotCopies {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  source(name: string): SnapshotSource {
    return fromFolder(join(this.#root, name))
  }

  async copy(source: SnapshotSource, name: string, files: SnapshotFiles): Promise<CopiedSnapshot> {
    const partial = join(this.#root, `.partial-${name}`)
    await rm(partial, { recursive: true, force: true })
    await mkdir(partial, { recursive: true, mode: 0o700 })
    try {
      let bytes = 0
      for (const [file, expected] of Object.entries(files)) {
        const sha256 = await copyFile(source, checkedName(file), join(partial, file))
        if (sha256 !== expected.sha256) throw new DamagedSnapshotError(`${file} has another checksum`)
        bytes += expected.bytes
      }
      const manifestPath = join(partial, SNAPSHOT_FILES.manifest)
      const manifestSha256 = await copyFile(source, SNAPSHOT_FILES.manifest, manifestPath)
      requireSameFiles(parseManifest(await readFile(manifestPath, 'utf8')), files)
      await syncFolder(partial)
      const place = join(this.#root, name)
      await rm(place, { recursive: true, force: true })
      await rename(partial, place)
      await syncFolder(this.#root)
      return { bytes: bytes + (await stat(join(place, SNAPSHOT_FILES.manifest))).size, manifestSha256 }
    } catch (error) {
      await rm(partial, { recursive: true, force: true })
      if (isMissing(error)) throw new DamagedSnapshotError(`a file is missing`, { cause: error })
      throw error
    }
  }

  async copiedBefore(name: string, files: SnapshotFiles): Promise<CopiedSnapshot | null> {
    const folder = join(this.#root, name)
    try {
      let bytes = 0
      for (const [file, expected] of Object.entries(files)) {
        if ((await stat(join(folder, checkedName(file)))).size !== expected.bytes) return null
        bytes += expected.bytes
      }
      const manifest = await readFile(join(folder, SNAPSHOT_FILES.manifest))
      requireSameFiles(parseManifest(manifest.toString('utf8')), files)
      return { bytes: bytes + manifest.length, manifestSha256: hash('sha256', manifest) }
    } catch (error) {
      if (error instanceof DamagedSnapshotError || isMissing(error)) return null
      throw error
    }
  }

  async readManifest(name: string): Promise<Manifest | null> {
    const text = await readFile(join(this.#root, name, SNAPSHOT_FILES.manifest), 'utf8').catch(() => '')
    return parseManifest(text) as Manifest | null
  }

  async check({ name, manifestSha256 }: BackedUpSnapshot): Promise<string[]> {
    const folder = join(this.#root, name)
    const path = join(folder, SNAPSHOT_FILES.manifest)
    const manifest = await readFile(path).catch(() => null)
    if (manifest === null) return [`${path} is missing.`]
    // The manifest has the checksums of the other files, and the record has that of the manifest.
    if (hash('sha256', manifest) !== manifestSha256) return [`${path} has another checksum.`]
    return (await verifySnapshot(folder)).map((sentence) => `${folder}: ${sentence}`)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof ObjectMissingError || (error as NodeJS.ErrnoException).code === 'ENOENT'
}

function parseManifest(text: string): Partial<Manifest> | null {
  try {
    return JSON.parse(text) as Partial<Manifest>
  } catch {
    return null
  }
}

/** Reads the source once: the checksum is computed from the bytes that are written. */
async function copyFile({ store, keyOf }: SnapshotSource, file: string, to: string): Promise<string> {
  const key = keyOf(file)
  const local = store.localPath?.(key)
  const sha256 = createHash('sha256')
  if (local === undefined) {
    const object = await store.head(key)
    if (!object) throw new ObjectMissingError(key)
    await downloadObject(store, object, to, (part) => sha256.update(part))
    return sha256.digest('hex')
  }
  const source = await open(local, 'r')
  try {
    const target = await open(to, 'wx', 0o600)
    try {
      const buffer = Buffer.allocUnsafe(BUFFER_BYTES)
      for (;;) {
        const { bytesRead } = await source.read(buffer, 0, BUFFER_BYTES)
        if (bytesRead === 0) break
        const part = buffer.subarray(0, bytesRead)
        sha256.update(part)
        await target.writeFile(part)
      }
      await target.sync()
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
  return sha256.digest('hex')
}
