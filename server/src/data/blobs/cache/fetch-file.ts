import { createHash, hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BlockCheck, CHECKED_BLOCK_BYTES, DamagedSnapshotError } from '@wayleave/geodata/snapshot'
import { randomBase62 } from '../../../base/id.ts'
import type { ObjectStore } from '../../../base/storage/object-store.ts'
import { DamagedObjectError } from '../damaged-object-error.ts'
import type { NodeCache } from './node-cache.ts'

/** Files are fetched in parts of this size, several at a time, each verified before it is written. */
const PART_BYTES = 32 * CHECKED_BLOCK_BYTES
const CONCURRENT_PARTS = 4

export interface FetchedFile {
  key: string
  /** The file's name in messages. */
  name: string
  path: string
  bytes: number
  sha256: string
  /** The checksums of its blocks, which may be on their way too; without them it is verified by its SHA-256. */
  blocks: Promise<Uint32Array | undefined>
}

/** Fetches a whole object to local disk. The file appears under its name only once all of it is verified. */
export async function fetchFile(store: ObjectStore, cache: NodeCache, file: FetchedFile): Promise<void> {
  const { path, bytes } = file
  const partial = `${path}.partial-${process.pid}-${randomBase62(6)}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    await fetchTo(partial, store, cache, file)
    // Not synced: after a power cut the file is verified again before its first use.
    await rename(partial, path)
    cache.added(bytes)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

async function fetchTo(
  partial: string,
  store: ObjectStore,
  cache: NodeCache,
  file: FetchedFile,
  isRepeated = false,
): Promise<void> {
  const { key, bytes, blocks } = file
  const handle = await open(partial, 'w', 0o600)
  try {
    let next = 0
    const fetchParts = async () => {
      while (next < bytes) {
        const span = { from: next, to: Math.min(bytes, next + PART_BYTES) }
        next = span.to
        const read = () => cache.fetches.run(() => store.read(key, span))
        let part = await read()
        const expected = await blocks
        // Bytes that were damaged on the way are right the second time.
        if (!isIntact(file, expected, part, span.from)) {
          part = await read()
          if (!isIntact(file, expected, part, span.from)) throw damaged(file)
        }
        await handle.write(part, 0, part.length, span.from)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT_PARTS }, fetchParts))
  } finally {
    await handle.close()
  }
  // Published before block checksums existed.
  if (bytes > PART_BYTES && (await blocks) === undefined && (await hashFile(partial)) !== file.sha256) {
    if (isRepeated) throw damaged(file)
    await fetchTo(partial, store, cache, file, true)
  }
}

/** Whether a part has the right bytes. A part of a file without block checksums is not verified by itself. */
function isIntact(
  { name, bytes, sha256 }: FetchedFile,
  blocks: Uint32Array | undefined,
  part: Buffer,
  from: number,
): boolean {
  if (blocks === undefined) return part.length < bytes || hash('sha256', part) === sha256
  try {
    const check = new BlockCheck(name, blocks, from / CHECKED_BLOCK_BYTES)
    check.update(part)
    check.finish()
    return true
  } catch (error) {
    if (error instanceof DamagedSnapshotError) return false
    throw error
  }
}

async function hashFile(path: string): Promise<string> {
  const digest = createHash('sha256')
  for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) digest.update(part)
  return digest.digest('hex')
}

function damaged({ name }: FetchedFile): DamagedObjectError {
  return new DamagedObjectError(name, `${name} is damaged in the store.`)
}
