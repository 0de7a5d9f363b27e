import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { BoundedCache } from '@wayleave/geodata/base'
import {
  CHECKED_BLOCK_BYTES,
  checksumBlocks,
  parseBlocks,
  printBlocks,
  type ReadableFile,
} from '@wayleave/geodata/snapshot'
import {
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  type SignedAddress,
} from '../../base/storage/object-store.ts'
import { CachedObject } from './cache/cached-object.ts'
import { BLOCKS_FOLDER, type NodeCache } from './cache/node-cache.ts'
import { ObjectReader } from './cache/object-reader.ts'
import { type ExportTombstone, parseTombstone, tombstoneOf } from './export-tombstone.ts'
import { SNAPSHOTS, snapshotKey } from './object-keys.ts'

const META = '.meta.json'
/** How long a meta object that was read is used. Another node may remove the file, or make it again, meanwhile. */
const META_MS = 60_000
const MAX_FOUND = 1000

/** What a meta file says about a finished file, among other things. */
export interface DerivedMeta {
  bytes: number
  sha256: string
}

/** A finished file is damaged or missing in the store: it has to be made again. */
export class DamagedDerivedError extends Error {
  override name = 'DamagedDerivedError'
  /** The checksum that the damaged file should have. */
  readonly sha256: string

  constructor(message: string, sha256: string, options?: ErrorOptions) {
    super(message, options)
    this.sha256 = sha256
  }
}

/** An export in the bucket. */
interface ListedExport {
  snapshot: string
  name: string
  bytes: number
}

interface FoundObject {
  object: DerivedObject<DerivedMeta>
  readAt: number
}

/** A finished file in the bucket. */
export interface DerivedObject<M extends DerivedMeta> {
  meta: M
  open(isSequential: boolean): ReadableFile
  /** Throws a DamagedDerivedError if the store no longer has the object. */
  signedAddress(address: SignedAddress): Promise<string | null>
}

/**
 * Files that are made from a snapshot after it was published: exports and tiles. A file is stored under a name
 * with its checksum, so two nodes that make the same file never mix their bytes. The meta object, which is
 * written last, says which one counts; it also has the checksums of all blocks.
 */
export class DerivedObjects {
  readonly #store: ObjectStore
  readonly #cache: NodeCache
  /** By the key of the meta object. */
  readonly #recentObjects = new BoundedCache<string, FoundObject>(MAX_FOUND)

  constructor(store: ObjectStore, cache: NodeCache) {
    this.#store = store
    this.#cache = cache
  }

  /** The finished file, such as `exports/places.csv`; undefined if it was not made or its meta is not valid. */
  async find<M extends DerivedMeta>(snapshot: string, name: string): Promise<DerivedObject<M> | undefined> {
    const metaKey = snapshotKey(snapshot, name + META)
    const recent = this.#recentObjects.get(metaKey)
    if (recent && performance.now() - recent.readAt < META_MS) return recent.object as DerivedObject<M>
    const meta = await this.#readMeta<M>(snapshot, name)
    if (meta === null) {
      this.#recentObjects.delete(metaKey)
      return undefined
    }
    // Readers of the same bytes share their fetches.
    const isSame = isDeepStrictEqual(recent?.object.meta, meta)
    const object = isSame ? (recent!.object as DerivedObject<M>) : this.#objectOf(snapshot, name, meta)
    if (object) this.#recentObjects.set(metaKey, { object, readAt: performance.now() })
    return object
  }

  /** Lets the next `find` read the meta object again. */
  forget(snapshot: string, name: string): void {
    this.#recentObjects.delete(snapshotKey(snapshot, name + META))
  }

  /** Undefined if the meta does not have the checksums of all blocks. */
  #objectOf<M extends DerivedMeta>(
    snapshot: string,
    name: string,
    meta: M & { blocks: string },
  ): DerivedObject<M> | undefined {
    const blocks = parseBlocks(meta.blocks)
    const { bytes } = meta
    if (blocks.length !== Math.ceil(bytes / CHECKED_BLOCK_BYTES)) return undefined
    const key = objectKey(snapshot, name, meta)
    const folder = join(this.#cache.root, snapshot)
    const damaged = (message: string, cause?: unknown) => {
      this.forget(snapshot, name)
      return new DamagedDerivedError(message, meta.sha256, { cause })
    }
    const object = new CachedObject({
      store: this.#store,
      cache: this.#cache,
      key,
      name,
      bytes,
      blocks,
      folder: join(folder, BLOCKS_FOLDER, `${name.replaceAll('/', '-')}.${meta.sha256.slice(0, 16)}`),
      wholePath: join(folder, name),
      damaged,
    })
    let seenAt = Number.NEGATIVE_INFINITY
    return {
      meta,
      open: (isSequential) => new ObjectReader(object, isSequential),
      signedAddress: async (address) => {
        // The client would get the 404 of the store.
        if (performance.now() - seenAt >= META_MS) {
          if ((await this.#store.head(key)) === null) throw damaged(`${name} is missing in the store.`)
          seenAt = performance.now()
        }
        return this.#store.signedAddress(key, address)
      },
    }
  }

  /**
   * Stores a file that was made in the snapshot's local folder. It becomes visible when the returned function is
   * called, which takes one short request.
   */
  async upload(snapshot: string, name: string, meta: DerivedMeta): Promise<() => Promise<void>> {
    const finish = await this.#write(snapshot, name, join(this.#cache.root, snapshot, name), meta)
    this.#cache.added(meta.bytes)
    return finish
  }

  /** A small object beside the files, such as the reason of a failure; null if there is none. */
  async readNote<T>(snapshot: string, name: string): Promise<T | null> {
    try {
      return JSON.parse((await this.#store.read(snapshotKey(snapshot, name))).toString('utf8')) as T
    } catch (error) {
      if (error instanceof ObjectMissingError || error instanceof SyntaxError) return null
      throw error
    }
  }

  async writeNote(snapshot: string, name: string, note: object): Promise<void> {
    await this.#store.write(snapshotKey(snapshot, name), Buffer.from(JSON.stringify(note)))
  }

  /** Stores all exports that were built in a folder before it becomes a snapshot. */
  async keepAll(snapshot: string, folder: string): Promise<void> {
    for (const metaName of await readdir(join(folder, 'exports')).catch(() => [])) {
      if (!metaName.endsWith(META)) continue
      const name = `exports/${metaName.slice(0, -META.length)}`
      const meta = JSON.parse(await readFile(join(folder, name + META), 'utf8')) as DerivedMeta
      const finish = await this.#write(snapshot, name, join(folder, name), meta)
      await finish()
    }
  }

  async #write(
    snapshot: string,
    name: string,
    path: string,
    meta: DerivedMeta,
  ): Promise<() => Promise<void>> {
    const blocks = printBlocks(await checksumBlocks(path))
    await this.#store.write(objectKey(snapshot, name, meta), { path, bytes: meta.bytes })
    const content = Buffer.from(JSON.stringify({ ...meta, blocks }))
    const metaKey = snapshotKey(snapshot, name + META)
    return async () => {
      await this.#store.write(metaKey, content)
      this.forget(snapshot, name)
    }
  }

  /** Removes the meta first: without it the file counts as not made. */
  async remove(snapshot: string, name: string): Promise<void> {
    this.forget(snapshot, name)
    await this.#store.delete([snapshotKey(snapshot, name + META)])
    const objects = await this.#objectsOf(snapshot, name)
    await this.#store.delete(objects.map(({ key }) => key))
    await rm(join(this.#cache.root, snapshot, name), { force: true })
  }

  /** Removes the file in which the error occurred, unless it is removed already or was made again. */
  async removeDamaged(snapshot: string, name: string, { sha256 }: DamagedDerivedError): Promise<void> {
    this.forget(snapshot, name)
    const meta = await this.#readMeta(snapshot, name)
    if (meta?.sha256 === sha256) await this.remove(snapshot, name)
  }

  /**
   * Removes only the meta, so that the file counts as not made. Other nodes may be sending its bytes, and clients
   * may have a signed address of them: the tombstone tells when they can be deleted.
   */
  async retire(snapshot: string, name: string, at: Date): Promise<void> {
    // The tombstone first: if this is interrupted, the bytes are not forgotten.
    await this.#store.write(snapshotKey(snapshot, tombstoneOf(name, at)), Buffer.alloc(0))
    await this.#store.delete([snapshotKey(snapshot, name + META)])
    this.forget(snapshot, name)
    await rm(join(this.#cache.root, snapshot, name), { force: true })
  }

  /**
   * Deletes the bytes of a retired file, if they are older than the given time, and its tombstone. If the file was
   * made again, its bytes stay.
   */
  async deleteRetired({ snapshot, name, key }: ExportTombstone, before: Date): Promise<void> {
    await this.removeReplaced(snapshot, name, before)
    await this.#store.delete([key])
  }

  /**
   * Removes the objects that an earlier file of this name had, if they are older than the given time: requests may
   * still read newer ones, or another process is uploading them. The current object stays.
   */
  async removeReplaced(snapshot: string, name: string, before: Date): Promise<void> {
    const meta = await this.#readMeta(snapshot, name)
    const current = meta && objectKey(snapshot, name, meta)
    const objects = await this.#objectsOf(snapshot, name)
    const replaced = objects.filter(({ key, modifiedAt }) => key !== current && modifiedAt < before)
    await this.#store.delete(replaced.map(({ key }) => key))
  }

  /**
   * The exports that were built before the given time, because object stores do not record reads, and the
   * tombstones of all that were removed.
   */
  async listExports(before: Date): Promise<{ old: ListedExport[]; removed: ExportTombstone[] }> {
    const old: ListedExport[] = []
    const removed: ExportTombstone[] = []
    const sizes = new Map<string, number>()
    for await (const { key, bytes, modifiedAt } of this.#store.list(SNAPSHOTS)) {
      const [, snapshot, folder, file] = key.split('/')
      if (snapshot === undefined || folder !== 'exports' || file === undefined) continue
      const tombstone = parseTombstone(key)
      if (tombstone) {
        removed.push(tombstone)
      } else if (!file.endsWith(META)) {
        sizes.set(`${snapshot}/exports/${file.replace(/\.[0-9a-f]{16}$/, '')}`, bytes)
      } else if (modifiedAt < before) {
        old.push({ snapshot, name: `exports/${file.slice(0, -META.length)}`, bytes: 0 })
      }
    }
    for (const file of old) file.bytes = sizes.get(`${file.snapshot}/${file.name}`) ?? 0
    return { old, removed }
  }

  async #objectsOf(snapshot: string, name: string): Promise<ObjectInfo[]> {
    const objects: ObjectInfo[] = []
    const prefix = snapshotKey(snapshot, `${name}.`)
    for await (const object of this.#store.list(prefix)) {
      // Compressed variants have names that begin like this too.
      if (/^[0-9a-f]{16}$/.test(object.key.slice(prefix.length))) objects.push(object)
    }
    return objects
  }

  async #readMeta<M extends DerivedMeta>(
    snapshot: string,
    name: string,
  ): Promise<(M & { blocks: string }) | null> {
    try {
      const content = await this.#store.read(snapshotKey(snapshot, name + META))
      const meta = JSON.parse(content.toString('utf8')) as M & { blocks: string }
      const isWhole = Number.isSafeInteger(meta.bytes) && /^[0-9a-f]{64}$/.test(String(meta.sha256))
      return isWhole && typeof meta.blocks === 'string' ? meta : null
    } catch (error) {
      if (error instanceof ObjectMissingError || error instanceof SyntaxError) return null
      throw error
    }
  }
}

function objectKey(snapshot: string, name: string, { sha256 }: DerivedMeta): string {
  return snapshotKey(snapshot, `${name}.${sha256.slice(0, 16)}`)
}
