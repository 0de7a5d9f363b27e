import { createHash, hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BlockChecksums, BlockHasher, blockChecksumsText } from '../snapshot/block-checksums.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { syncFile } from '../write-durably.ts'

/** The checksums of a file: of the whole file and of each block. */
export interface FileChecksums {
  sha256: string
  blocks: Uint32Array
}

/** The large files, which get a checksum for every block. */
const CHECKED_FILES = [
  SNAPSHOT_FILES.rows,
  SNAPSHOT_FILES.columns,
  SNAPSHOT_FILES.points,
  SNAPSHOT_FILES.ids,
  SNAPSHOT_FILES.pack,
  SNAPSHOT_FILES.index,
] as const

const READ_BYTES = 1 << 20

/**
 * Adds the checksums and the manifest to a snapshot's files, and waits until each file is synced to disk.
 * Syncing runs while checksums are computed, so that the disk and the CPU work in parallel. The caller syncs
 * the folder itself after removing its temporary files.
 */
export async function sealSnapshot(
  folder: string,
  head: Omit<Manifest, 'files'>,
  pack: FileChecksums,
): Promise<Manifest> {
  const names = CHECKED_FILES.filter((name) => existsSync(join(folder, name)))
  const syncing = Promise.all(names.map((name) => syncFile(join(folder, name))))
  // It is awaited below; this prevents an unhandled rejection if a checksum fails first.
  syncing.catch(() => {})
  const files: Manifest['files'] = {}
  const blocks = new Map<string, Uint32Array>()
  for (const name of names) {
    const path = join(folder, name)
    const checksums = name === SNAPSHOT_FILES.pack ? pack : await checksumFile(path)
    files[name] = { bytes: (await stat(path)).size, sha256: checksums.sha256 }
    blocks.set(name, checksums.blocks)
  }
  await syncing
  const sample = await addSample(folder)
  if (sample) files[SNAPSHOT_FILES.sample] = sample
  files[SNAPSHOT_FILES.checksums] = await addChecksums(folder, blocks)
  const manifest: Manifest = { ...head, files }
  await writeSynced(join(folder, SNAPSHOT_FILES.manifest), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

async function addSample(folder: string): Promise<Manifest['files'][string] | null> {
  const path = join(folder, SNAPSHOT_FILES.sample)
  if (!existsSync(path)) return null
  const bytes = await syncFile(path)
  return { bytes, sha256: (await checksumFile(path)).sha256 }
}

async function addChecksums(folder: string, blocks: BlockChecksums): Promise<Manifest['files'][string]> {
  const text = blockChecksumsText(blocks)
  await writeSynced(join(folder, SNAPSHOT_FILES.checksums), text)
  return { bytes: Buffer.byteLength(text), sha256: hash('sha256', text) }
}

/** No temporary name is needed here, because the whole folder is renamed into place. */
async function writeSynced(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flush: true })
}

async function checksumFile(path: string): Promise<FileChecksums> {
  const sha256 = createHash('sha256')
  const blocks = new BlockHasher()
  const handle = await open(path)
  try {
    const { size } = await handle.stat()
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, Math.max(size, 1)))
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) break
      const bytes = buffer.subarray(0, bytesRead)
      sha256.update(bytes)
      blocks.update(bytes)
    }
    return { sha256: sha256.digest('hex'), blocks: blocks.finish() }
  } finally {
    await handle.close()
  }
}
