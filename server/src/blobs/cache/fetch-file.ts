import { createHash } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { BlockCheck, CHECKED_BLOCK_BYTES, DamagedSnapshotError } from '@wayleave/geodata/snapshot'
import { randomBase62 } from '../../id.ts'
import type { ObjectStore } from '../../storage/object-store.ts'
import type { NodeCache } from './node-cache.ts'

/** Files are fetched in parts of this size, several at a time, each verified before it is written. */
const PART_BYTES = 32 * CHECKED_BLOCK_BYTES
const PARTS_AT_ONCE = 4

export interface FetchedFile {
  key: string
  /** The file's name in messages. */
  name: string
  path: string
  bytes: number
  sha256: string
  /** The checksums of its blocks; without them the file is verified by its SHA-256. */
  blocks: Uint32Array | undefined
}

/** Fetches a whole object to local disk. The file appears under its name only once all of it is verified. */
export async function fetchFile(store: ObjectStore, cache: NodeCache, file: FetchedFile): Promise<void> {
  const { path, bytes } = file
  const partial = `${path}.partial-${process.pid}-${randomBase62(6)}`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    const handle = await open(partial, 'wx', 0o600)
    try {
      const write = async (part: Buffer, at: number) => {
        await handle.write(part, 0, part.length, at)
      }
      await (file.blocks
        ? fetchByBlocks(store, cache, file, file.blocks, write)
        : fetchInOrder(store, cache, file, write))
    } finally {
      await handle.close()
    }
    // Not synced: after a power cut the file is verified again before its first use.
    await rename(partial, path)
    cache.added(bytes)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

type WritePart = (part: Buffer, at: number) => Promise<void>

async function fetchByBlocks(
  store: ObjectStore,
  cache: NodeCache,
  { key, name, bytes }: FetchedFile,
  blocks: Uint32Array,
  write: WritePart,
): Promise<void> {
  let next = 0
  const fetchParts = async () => {
    while (next < bytes) {
      const from = next
      next += PART_BYTES
      const span = { from, to: Math.min(bytes, from + PART_BYTES) }
      const part = await verified(async () => {
        const read = await cache.fetches.run(() => store.read(key, span))
        const check = new BlockCheck(name, blocks, from / CHECKED_BLOCK_BYTES)
        check.update(read)
        check.finish()
        return read
      })
      await write(part, from)
    }
  }
  await Promise.all(Array.from({ length: PARTS_AT_ONCE }, fetchParts))
}

async function fetchInOrder(
  store: ObjectStore,
  cache: NodeCache,
  { key, name, bytes, sha256 }: FetchedFile,
  write: WritePart,
): Promise<void> {
  await verified(async () => {
    const digest = createHash('sha256')
    for (let from = 0; from < bytes; from += PART_BYTES) {
      const span = { from, to: Math.min(bytes, from + PART_BYTES) }
      const part = await cache.fetches.run(() => store.read(key, span))
      digest.update(part)
      await write(part, from)
    }
    if (digest.digest('hex') !== sha256)
      throw new DamagedSnapshotError(name, `${name} is damaged in the store.`)
  })
}

/** Bytes that were damaged on the way are right the second time. */
async function verified<T>(fetch: () => Promise<T>): Promise<T> {
  return fetch().catch((error: unknown) => {
    if (error instanceof DamagedSnapshotError) return fetch()
    throw error
  })
}
