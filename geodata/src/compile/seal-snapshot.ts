import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BlockChecksums, blockChecksumsText } from '../snapshot/block-checksums.ts'
import { type Manifest, SNAPSHOT_FILES } from '../snapshot/manifest.ts'
import { syncFile } from '../write-durably.ts'
import { type Checksums, checksumsHere } from './checksums/checksums.ts'
import type { FileChecksums } from './checksums/file-checksums.ts'

/** A file that is on disk for good. */
export interface SealedFile extends FileChecksums {
  bytes: number
}

/** The large files, which get a checksum for every block. */
export const CHECKED_FILES = [
  SNAPSHOT_FILES.rows,
  SNAPSHOT_FILES.columns,
  SNAPSHOT_FILES.points,
  SNAPSHOT_FILES.ids,
  SNAPSHOT_FILES.pack,
  SNAPSHOT_FILES.index,
] as const

export type CheckedFile = (typeof CHECKED_FILES)[number]

/**
 * Computes the checksums of finished files, and waits until each is synced to disk: the disk and the processor work in
 * parallel. Names of files that do not exist are ignored.
 */
export async function sealFiles(
  folder: string,
  names: readonly CheckedFile[],
  checksums: Pick<Checksums, 'of'> = checksumsHere,
): Promise<Map<string, SealedFile>> {
  const existing = names.filter((name) => existsSync(join(folder, name)))
  const syncing = Promise.all(existing.map((name) => syncFile(join(folder, name))))
  // It is awaited below; this prevents an unhandled rejection if a checksum fails first.
  syncing.catch(() => {})
  const sealed = new Map<string, SealedFile>()
  for (const name of existing) {
    const path = join(folder, name)
    sealed.set(name, { ...(await checksums.of(path)), bytes: (await stat(path)).size })
  }
  await syncing
  return sealed
}

/**
 * Adds the checksums and the manifest to a snapshot's files, some of which may be sealed already. The caller
 * syncs the folder itself after removing its temporary files.
 */
export async function sealSnapshot(
  folder: string,
  head: Omit<Manifest, 'files'>,
  sealed: ReadonlyMap<string, SealedFile>,
): Promise<Manifest> {
  const others = await sealFiles(
    folder,
    CHECKED_FILES.filter((name) => !sealed.has(name)),
  )
  const files: Manifest['files'] = {}
  const blocks = new Map<string, Uint32Array>()
  for (const name of CHECKED_FILES) {
    const file = sealed.get(name) ?? others.get(name)
    if (file === undefined) continue
    files[name] = { bytes: file.bytes, sha256: file.sha256 }
    blocks.set(name, file.blocks)
  }
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
  return { bytes, sha256: (await checksumsHere.of(path)).sha256 }
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
