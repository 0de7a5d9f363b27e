import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BlockCheck, readBlockChecksums } from './block-checksums.ts'
import { DamagedSnapshotError } from './damaged-snapshot-error.ts'
import type { Manifest } from './manifest.ts'
import { readManifest } from './read-manifest.ts'
import { missingFile, openFile } from './snapshot-files.ts'

const READ_BYTES = 1 << 20

/** Verifies all files of a snapshot. Returns one sentence per problem; empty if all match the manifest. */
export async function verifySnapshot(folder: string): Promise<string[]> {
  const sentences: string[] = []
  const collect = (error: unknown) => {
    if (!(error instanceof DamagedSnapshotError)) throw error
    sentences.push(error.message)
  }
  const manifest = await readManifest(folder).catch(collect)
  for (const name of Object.keys(manifest?.files ?? {})) {
    await verifyFile(folder, manifest!, name).catch(collect)
  }
  return sentences
}

/**
 * Compares the sizes of all files with the manifest, without reading any of them. This detects the damage
 * that a power cut or an interrupted copy leaves. Throws a DamagedSnapshotError.
 */
export async function checkSizes(folder: string, manifest: Manifest): Promise<void> {
  await Promise.all(Object.keys(manifest.files).map((name) => checkSize(folder, manifest, name)))
}

async function checkSize(folder: string, manifest: Manifest, name: string): Promise<void> {
  const { bytes } = manifest.files[name]!
  const size = await stat(join(folder, name)).then(
    (file) => file.size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw missingFile(name, error)
      throw error
    },
  )
  if (size !== bytes) throw wrongSize(name, size, bytes)
}

export interface VerifyOptions {
  /** The max read rate, which leaves disk bandwidth to requests; unlimited if absent. */
  bytesPerSecond?: number
  /** Called with the bytes as they are read; the buffer is reused after the callback returns. */
  onBytes?: (bytes: Buffer) => void
}

/** Reads a whole file and compares its SHA-256 with the manifest. Throws a DamagedSnapshotError. */
export async function verifyFile(
  folder: string,
  manifest: Manifest,
  name: string,
  { bytesPerSecond, onBytes }: VerifyOptions = {},
): Promise<void> {
  const sha256 = createHash('sha256')
  const began = performance.now()
  let bytesRead = 0
  await readChecked(folder, manifest, name, async (bytes) => {
    sha256.update(bytes)
    onBytes?.(bytes)
    bytesRead += bytes.length
    if (bytesPerSecond === undefined) return
    const ahead = (bytesRead / bytesPerSecond) * 1000 - (performance.now() - began)
    if (ahead > 1) await sleep(ahead)
  })
  if (sha256.digest('hex') !== manifest.files[name]!.sha256) {
    throw new DamagedSnapshotError(name, `${name} has another checksum than the manifest says.`)
  }
}

/**
 * Reads whole files and compares them with their block checksums, which is several times as fast as
 * `verifyFile`; snapshots without block checksums are verified by SHA-256. Files that the manifest does not
 * list are skipped. Throws a DamagedSnapshotError.
 */
export async function verifyFilesFast(
  folder: string,
  manifest: Manifest,
  names: readonly string[],
): Promise<void> {
  const checksums = await readBlockChecksums(folder, manifest)
  for (const name of names) {
    if (!manifest.files[name]) continue
    const blocks = checksums?.get(name)
    if (!blocks) {
      await verifyFile(folder, manifest, name)
      continue
    }
    const check = new BlockCheck(name, blocks)
    await readChecked(folder, manifest, name, (bytes) => check.update(bytes))
    check.finish()
  }
}

/** Passes a file's bytes to `take`. Throws a DamagedSnapshotError if it is missing or its size differs. */
async function readChecked(
  folder: string,
  manifest: Manifest,
  name: string,
  take: (bytes: Buffer) => void | Promise<void>,
): Promise<void> {
  const expected = manifest.files[name]!.bytes
  const handle = await openFile(folder, name)
  try {
    const { size } = await handle.stat()
    if (size !== expected) throw wrongSize(name, size, expected)
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, Math.max(1, size)))
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      await take(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}

export function wrongSize(name: string, size: number, expected: number): DamagedSnapshotError {
  return new DamagedSnapshotError(name, `${name} has ${size} bytes instead of ${expected}.`)
}
