import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checksumBlocks, printBlocks } from '@wayleave/geodata/snapshot'
import { BACKGROUND_PATIENCE, downloadObject } from '../../base/storage/download-object.ts'
import { type ObjectInfo, ObjectMissingError, type ObjectStore } from '../../base/storage/object-store.ts'
import type { DerivedMeta } from './derived-objects.ts'
import { snapshotKey, snapshotPrefix } from './object-keys.ts'

/** A folder or a bucket that holds an installation's files, and how it names exports and tiles. */
export interface StoredPlace {
  store: ObjectStore
  isBucket: boolean
}

/** An export or an archive of tiles with a meta file. */
export interface StoredDerived {
  /** Such as `exports/places.csv`. */
  name: string
  metaKey: string
  meta: DerivedMeta
  key: string
}

const META = '.meta.json'
const READ_BYTES = 8 << 20

/** In a bucket, the key has the file's checksum; in a folder, the name alone. */
function derivedKey({ isBucket }: StoredPlace, snapshot: string, name: string, meta: DerivedMeta): string {
  return snapshotKey(snapshot, isBucket ? `${name}.${meta.sha256.slice(0, 16)}` : name)
}

/** All objects of a snapshot, by key. */
export async function objectsOf({ store }: StoredPlace, snapshot: string): Promise<Map<string, ObjectInfo>> {
  const objects = new Map<string, ObjectInfo>()
  for await (const object of store.list(snapshotPrefix(snapshot))) objects.set(object.key, object)
  return objects
}

/** The exports and tiles among the objects. Null instead of a meta that cannot be read. */
export async function derivedOf(
  place: StoredPlace,
  snapshot: string,
  objects: ReadonlyMap<string, ObjectInfo>,
): Promise<(StoredDerived | { name: string; metaKey: string; meta: null })[]> {
  const prefix = snapshotPrefix(snapshot)
  const derivedFiles: Awaited<ReturnType<typeof derivedOf>> = []
  for (const metaKey of objects.keys()) {
    const name = metaKey.slice(prefix.length, -META.length)
    if (!metaKey.endsWith(META) || !/^(exports|tiles)\//.test(name)) continue
    const meta = parseMeta(await place.store.read(metaKey).catch(nullIfMissing))
    derivedFiles.push(
      meta ? { name, metaKey, meta, key: derivedKey(place, snapshot, name, meta) } : { name, metaKey, meta },
    )
  }
  return derivedFiles
}

function parseMeta(content: Buffer | null): DerivedMeta | null {
  try {
    const meta = JSON.parse(String(content)) as DerivedMeta
    const isWhole = Number.isSafeInteger(meta.bytes) && /^[0-9a-f]{64}$/.test(String(meta.sha256))
    return isWhole ? meta : null
  } catch {
    return null
  }
}

/** The SHA-256 of an object, or null if it is missing or shorter. */
export async function sha256Of({ store }: StoredPlace, key: string, bytes: number): Promise<string | null> {
  const hash = createHash('sha256')
  for (let from = 0; from < bytes; from += READ_BYTES) {
    const span = { from, to: Math.min(bytes, from + READ_BYTES) }
    const part = await store.read(key, span, { patienceMs: BACKGROUND_PATIENCE }).catch(nullIfMissing)
    if (part === null) return null
    hash.update(part)
  }
  return hash.digest('hex')
}

/** The bytes at the source are not those that were published. */
export class DamagedSourceError extends Error {
  override name = 'DamagedSourceError'
}

export interface CopiedObject {
  key: string
  targetKey: string
  bytes: number
  sha256: string
}

/** Copies objects between places. Every byte is compared with its checksum on the way. */
export class ObjectCopier {
  readonly #from: StoredPlace
  readonly #to: StoredPlace
  readonly #scratch: string

  /** `scratch` is a folder on a disk with room for the largest object. */
  constructor(from: StoredPlace, to: StoredPlace, scratch: string) {
    this.#from = from
    this.#to = to
    this.#scratch = scratch
  }

  async copy({ key, targetKey, bytes, sha256 }: CopiedObject): Promise<void> {
    await this.#withLocal(key, bytes, async (path) => {
      if ((await hashFile(path)) !== sha256) throw new DamagedSourceError(`${key} is damaged.`)
      await this.#to.store.write(targetKey, { path, bytes })
    })
  }

  /** Copies an export or tiles. The meta is written last; in a bucket it also has the checksums of blocks. */
  async copyDerived(snapshot: string, { name, metaKey, meta, key }: StoredDerived): Promise<void> {
    const targetKey = derivedKey(this.#to, snapshot, name, meta)
    await this.#withLocal(key, meta.bytes, async (path) => {
      if ((await hashFile(path)) !== meta.sha256) throw new DamagedSourceError(`${key} is damaged.`)
      const blocks = this.#to.isBucket ? { blocks: printBlocks(await checksumBlocks(path)) } : {}
      await this.#to.store.write(targetKey, { path, bytes: meta.bytes })
      await this.#to.store.write(metaKey, Buffer.from(JSON.stringify({ ...meta, ...blocks })))
    })
  }

  async #withLocal(key: string, bytes: number, work: (path: string) => Promise<void>): Promise<void> {
    const { store } = this.#from
    const local = store.localPath?.(key)
    if (local !== undefined) {
      if ((await store.head(key))?.bytes !== bytes)
        throw new DamagedSourceError(`${key} is missing or too short.`)
      return work(local)
    }
    const folder = await mkdtemp(join(this.#scratch, 'moving-'))
    try {
      const path = join(folder, 'object')
      await downloadObject(store, { key, bytes }, path).catch((error: unknown) => {
        if (!(error instanceof ObjectMissingError)) throw error
        throw new DamagedSourceError(`${key} is missing or too short.`, { cause: error })
      })
      await work(path)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(bytes)
  return hash.digest('hex')
}

function nullIfMissing(error: unknown): null {
  if (error instanceof ObjectMissingError) return null
  throw error
}
