import { open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BoundedCache, SingleFlights } from '@wayleave/geodata/base'
import {
  type BlockChecksums,
  DamagedSnapshotError,
  type Manifest,
  type ReadableFile,
  readBlockChecksums,
  readManifest,
  SNAPSHOT_FILES,
  type SnapshotFiles,
  verifyFilesFast,
  verifyInThread,
} from '@wayleave/geodata/snapshot'
import { DAY, SECOND } from '../../base/clock.ts'
import { ObjectMissingError, type ObjectStore, type SignedAddress } from '../../base/storage/object-store.ts'
import type { Blobs, DiscardedSnapshot } from './blobs.ts'
import { CachedObject } from './cache/cached-object.ts'
import { type FetchedFile, fetchFile } from './cache/fetch-file.ts'
import { BLOCKS_FOLDER, type NodeCache } from './cache/node-cache.ts'
import { ObjectReader } from './cache/object-reader.ts'
import { DamagedObjectError } from './damaged-object-error.ts'
import { DerivedObjects } from './derived-objects.ts'
import { SNAPSHOTS, snapshotKey, snapshotPrefix, TRASH } from './object-keys.ts'
import { isSnapshotName } from './snapshot-name.ts'
import { parseTrashEntry, trashEntry } from './trash-entry.ts'

/** Files up to this size are verified on the calling thread, because starting a worker thread takes longer. */
const SMALL_FILE_BYTES = 1 << 22
const MAX_VERIFIED = 100_000
const MAX_OBJECTS = 1000
const CONCURRENT_UPLOADS = 3
/** How long an object that was seen in the store counts as there, for redirects. */
const SEEN_HOLDS = 60 * SECOND
/** A reader that finds damage within this time after copies were discarded had begun before. */
const DISCARD_HOLDS = 10 * SECOND
const NO_BLOCKS: FetchedFile['blocks'] = Promise.resolve(undefined)
/** How often files that a long computation reads are marked as used. */
const KEEP_EVERY = 40 * SECOND

/** Stores snapshots in a bucket, with a cache on local disk. */
export class ObjectBlobs implements Blobs {
  readonly isLocal = false
  readonly location: string
  readonly root: string
  /** A download that began before a snapshot was discarded may take hours. */
  readonly minGrace = DAY
  readonly derived: DerivedObjects
  readonly objects: ObjectStore
  readonly #store: ObjectStore
  readonly #cache: NodeCache
  readonly #fetches = new SingleFlights<string, void>()
  /** By path: the size and inode of files that this process has verified. */
  readonly #verified = new BoundedCache<string, string>(MAX_VERIFIED)
  readonly #discards = new SingleFlights<string, boolean>()
  /** By snapshot: when damaged copies were last discarded, by `performance.now()`. */
  readonly #discardedAt = new BoundedCache<string, number>(MAX_OBJECTS)
  /** By key: when an object that clients are redirected to was last seen in the store. */
  readonly #seenAt = new BoundedCache<string, number>(MAX_OBJECTS)
  /** Readers of an object share its fetches. */
  readonly #objects = new BoundedCache<string, CachedObject>(MAX_OBJECTS)

  constructor(store: ObjectStore, cache: NodeCache) {
    this.#store = store
    this.objects = store
    this.#cache = cache
    this.location = store.location
    this.root = cache.root
    this.derived = new DerivedObjects(store, cache)
  }

  async localFolder(snapshot: string): Promise<string> {
    snapshotPrefix(snapshot)
    return join(this.root, snapshot)
  }

  files(snapshot: string, manifest: Manifest): SnapshotFiles {
    return {
      folder: join(this.root, snapshot),
      isLocal: false,
      fetch: (names) => this.#fetchAll(snapshot, manifest, names),
      open: (name, { isSequential = false } = {}) => this.#open(snapshot, manifest, name, isSequential),
    }
  }

  async withFiles<T>(
    snapshot: string,
    manifest: Manifest,
    work: () => Promise<T>,
    names: readonly string[] = Object.keys(manifest.files),
  ): Promise<T> {
    await this.#fetchAll(snapshot, manifest, names)
    // Files that are in use are not evicted.
    const timer = setInterval(() => {
      for (const name of names) this.#cache.touch(join(this.root, snapshot, name))
    }, KEEP_EVERY)
    try {
      return await work()
    } finally {
      clearInterval(timer)
    }
  }

  async discardDamagedCopies(snapshot: string, manifest: Manifest, file: string): Promise<boolean> {
    const isGone = (await this.#stampOf(join(this.root, snapshot, file))) === null
    const discarded = await this.#discards.run(snapshot, () => this.#discardDamaged(snapshot, manifest))
    if (discarded) this.#discardedAt.set(snapshot, performance.now())
    const discardedAt = this.#discardedAt.get(snapshot) ?? Number.NEGATIVE_INFINITY
    // A file that is gone was evicted, or removed with the whole cache.
    return isGone || performance.now() - discardedAt < DISCARD_HOLDS
  }

  async writeWhole(snapshot: string, folder: string): Promise<void> {
    const manifest = await readManifest(folder)
    const names = Object.keys(manifest.files)
    const upload = async () => {
      for (let name = names.shift(); name !== undefined; name = names.shift()) {
        const { bytes } = manifest.files[name]!
        await this.#store.write(snapshotKey(snapshot, name), { path: join(folder, name), bytes })
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT_UPLOADS }, upload))
    await this.derived.keepAll(snapshot, folder)
    // Written last: a snapshot without a manifest does not exist.
    const path = join(folder, SNAPSHOT_FILES.manifest)
    await this.#store.write(snapshotKey(snapshot, SNAPSHOT_FILES.manifest), {
      path,
      bytes: (await stat(path)).size,
    })
    // The files are here already, so this node does not have to fetch them.
    await rename(folder, join(this.root, snapshot)).then(
      () => this.#cache.added(Object.values(manifest.files).reduce((sum, { bytes }) => sum + bytes, 0)),
      () => {},
    )
  }

  async list(): Promise<string[]> {
    const discarded = new Set((await this.listTrash()).map(({ snapshot }) => snapshot))
    return (await this.#names()).filter((name) => isSnapshotName(name) && !discarded.has(name))
  }

  async listForeign(): Promise<string[]> {
    return (await this.#names()).filter((name) => !isSnapshotName(name))
  }

  async placedAt(snapshot: string): Promise<Date | null> {
    const manifest = await this.#store.head(snapshotKey(snapshot, SNAPSHOT_FILES.manifest))
    return manifest?.modifiedAt ?? null
  }

  async removeUnfinished(snapshot: string, before: Date, dryRun: boolean): Promise<boolean> {
    if ((await this.placedAt(snapshot)) !== null) return false
    const keys: string[] = []
    for await (const { key, modifiedAt } of this.#store.list(snapshotPrefix(snapshot))) {
      if (modifiedAt >= before) return false
      keys.push(key)
    }
    if (!dryRun) await this.#store.delete(keys)
    return keys.length > 0
  }

  async discard(snapshot: string, at: Date): Promise<void> {
    const isDiscarded = (await this.listTrash()).some((entry) => entry.snapshot === snapshot)
    if (isDiscarded || (await this.placedAt(snapshot)) === null) return
    await this.#store.write(TRASH + trashEntry(snapshot, at), Buffer.alloc(0))
  }

  async listTrash(): Promise<DiscardedSnapshot[]> {
    const entries: DiscardedSnapshot[] = []
    for await (const { key } of this.#store.list(TRASH)) {
      const entry = parseTrashEntry(key.slice(TRASH.length))
      if (entry) entries.push(entry)
    }
    return entries
  }

  async restore({ entry }: DiscardedSnapshot): Promise<void> {
    await this.#store.delete([TRASH + entry])
  }

  async deleteDiscarded({ entry, snapshot }: DiscardedSnapshot): Promise<void> {
    // The manifest first: if this is interrupted, the rest is an unfinished snapshot and is deleted later.
    await this.#store.delete([snapshotKey(snapshot, SNAPSHOT_FILES.manifest)])
    const keys: string[] = []
    for await (const { key } of this.#store.list(snapshotPrefix(snapshot))) keys.push(key)
    await this.#store.delete(keys)
    await this.#store.delete([TRASH + entry])
    await this.#cache.remove(snapshot)
  }

  async signedAddress(snapshot: string, file: string, address: SignedAddress): Promise<string | null> {
    const key = snapshotKey(snapshot, file)
    // The client would get the 404 of the store.
    if (performance.now() - (this.#seenAt.get(key) ?? Number.NEGATIVE_INFINITY) >= SEEN_HOLDS) {
      if ((await this.#store.head(key)) === null)
        throw new DamagedObjectError(file, `${file} is missing in the store.`)
      this.#seenAt.set(key, performance.now())
    }
    return this.#store.signedAddress(key, address)
  }

  #names(): Promise<string[]> {
    return this.#store.listFolders(SNAPSHOTS)
  }

  /**
   * All files are fetched at once. The checksums of the blocks, by which the others are verified, are usually the
   * smallest file, and arrive while the first parts of the others are on their way.
   */
  async #fetchAll(snapshot: string, manifest: Manifest, names: readonly string[]): Promise<void> {
    const areVerified = await Promise.all(
      names.map((name) => this.#isVerified(join(this.root, snapshot, name))),
    )
    const missing = names.filter((_, i) => !areVerified[i])
    if (missing.length === 0) return
    const checksums = this.#checksums(snapshot, manifest)
    const fetches = missing
      .filter((name) => name !== SNAPSHOT_FILES.checksums)
      .map((name) =>
        this.#fetch(
          snapshot,
          manifest,
          name,
          checksums.then((all) => all?.get(name)),
        ),
      )
    await Promise.all([checksums, ...fetches])
  }

  /** Whether this process has verified the file, which has not been replaced since. */
  async #isVerified(path: string): Promise<boolean> {
    const stamp = await this.#stampOf(path)
    if (stamp === null || this.#verified.get(path) !== stamp) return false
    this.#cache.counts.hits++
    this.#cache.touch(path)
    return true
  }

  async #checksums(snapshot: string, manifest: Manifest): Promise<BlockChecksums | null> {
    const name = SNAPSHOT_FILES.checksums
    if (manifest.files[name] === undefined) return null
    await this.#fetch(snapshot, manifest, name, NO_BLOCKS)
    return readBlockChecksums(join(this.root, snapshot), manifest)
  }

  async #open(
    snapshot: string,
    manifest: Manifest,
    name: string,
    isSequential: boolean,
  ): Promise<ReadableFile> {
    const blocks = (await this.#checksums(snapshot, manifest))?.get(name)
    if (blocks === undefined) {
      // Published before block checksums existed: nothing but the whole file can be verified.
      await this.#fetch(snapshot, manifest, name, NO_BLOCKS)
      return open(join(this.root, snapshot, name))
    }
    const key = snapshotKey(snapshot, name)
    let object = this.#objects.get(key)
    if (object === undefined) {
      const folder = join(this.root, snapshot)
      object = new CachedObject({
        store: this.#store,
        cache: this.#cache,
        key,
        name,
        bytes: manifest.files[name]!.bytes,
        blocks,
        folder: join(folder, BLOCKS_FOLDER, name),
        wholePath: join(folder, name),
        damaged: (message, cause) => new DamagedObjectError(name, message, { cause }),
      })
      this.#objects.set(key, object)
    }
    return new ObjectReader(object, isSequential)
  }

  #fetch(snapshot: string, manifest: Manifest, name: string, blocks: FetchedFile['blocks']): Promise<void> {
    // The fetch may fail before it needs them.
    blocks.catch(() => {})
    const expected = manifest.files[name]
    if (expected === undefined) return Promise.resolve()
    const path = join(this.root, snapshot, name)
    const file = { key: snapshotKey(snapshot, name), name, path, blocks, ...expected }
    return this.#fetches.run(path, () => this.#fetchOnce(join(this.root, snapshot), manifest, file))
  }

  async #fetchOnce(folder: string, manifest: Manifest, file: FetchedFile): Promise<void> {
    const { path } = file
    if (await this.#isVerified(path)) return
    const hasCopy = (await this.#stampOf(path)) !== null
    // A copy is verified by the file with the checksums of blocks, which must be there first.
    if (hasCopy) await file.blocks
    if (hasCopy && (await this.#isIntact(folder, manifest, file))) {
      this.#cache.counts.hits++
      this.#cache.touch(path)
    } else {
      this.#cache.counts.misses++
      await rm(path, { force: true })
      await fetchFile(this.#store, this.#cache, file).catch((error: unknown) => {
        if (!(error instanceof ObjectMissingError)) throw error
        throw new DamagedObjectError(file.name, `${file.name} is missing in the store.`, { cause: error })
      })
    }
    const stamp = await this.#stampOf(path)
    if (stamp !== null) this.#verified.set(path, stamp)
  }

  /** Compares all copies with their checksums, whatever this process has verified before. */
  async #discardDamaged(snapshot: string, manifest: Manifest): Promise<boolean> {
    const folder = join(this.root, snapshot)
    const { checksums } = SNAPSHOT_FILES
    // The others are compared with these.
    const names = Object.keys(manifest.files).sort(
      (a, b) => Number(b === checksums) - Number(a === checksums),
    )
    let isDiscarded = false
    for (const name of names) {
      const path = join(folder, name)
      this.#verified.delete(path)
      if ((await this.#stampOf(path)) === null) continue
      const { bytes } = manifest.files[name]!
      if (name !== checksums) await this.#checksums(snapshot, manifest)
      if (await this.#isIntact(folder, manifest, { name, bytes })) continue
      await rm(path, { force: true })
      isDiscarded = true
    }
    return isDiscarded
  }

  /** Whether a copy that an earlier or another process has fetched has the right bytes. */
  async #isIntact(
    folder: string,
    manifest: Manifest,
    { name, bytes }: Pick<FetchedFile, 'name' | 'bytes'>,
  ): Promise<boolean> {
    try {
      if (bytes <= SMALL_FILE_BYTES) await verifyFilesFast(folder, manifest, [name])
      else await verifyInThread({ folder, manifest, fast: [name] }, new AbortController().signal)
      return true
    } catch (error) {
      // A disk that cannot read its copy is not a reason to fail: the store has the file.
      if (error instanceof DamagedSnapshotError || (error as NodeJS.ErrnoException).code === 'EIO')
        return false
      throw error
    }
  }

  /** Not its times, because these record when the file was last used. */
  async #stampOf(path: string): Promise<string | null> {
    return stat(path).then(
      ({ size, ino }) => `${size} ${ino}`,
      () => null,
    )
  }
}
