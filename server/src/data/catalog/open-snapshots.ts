import { machineMemory, type SharedLoads } from '@wayleave/geodata/base'
import { openSnapshot, PackCache, type Snapshot } from '@wayleave/geodata/features'
import type { Blobs } from '../blobs/blobs.ts'
import type { Verification } from './background-verification.ts'
import type { Version } from './dataset.ts'
import type { SnapshotHealth } from './snapshot-health.ts'

/**
 * Max open snapshots. An index takes about 25 bytes per feature, so 64 snapshots of a million features take
 * 1.6 GB. Those of more than 64 MB are read by blocks.
 */
const MAX_OPEN = 64
/** Size of the cache of blocks of packs and large indexes, which keeps the areas that clients view repeatedly. */
const PACK_CACHE_BYTES = Math.min(1024 ** 3, Math.floor(machineMemory() / 16))

interface Entry {
  opening: Promise<Snapshot>
  snapshot: Snapshot | null
  users: number
  dropped: boolean
}

interface OpenSnapshotsDeps {
  blobs: Blobs
  health: SnapshotHealth
  verification: Verification
  /** Null if no other thread serves. */
  loads?: SharedLoads | null
}

/**
 * An LRU cache of open snapshots. A snapshot in use is never closed before its user is done. A damaged one is
 * closed and not opened again. Opening a snapshot starts its verification in the background.
 */
export class OpenSnapshots {
  readonly #parts: OpenSnapshotsDeps
  readonly #max: number
  readonly #packs: PackCache
  /** In LRU order, least recently used first. */
  readonly #entries = new Map<string, Entry>()

  #onOpen: (snapshot: Snapshot) => void = () => {}
  /** The name peeked last; a repeated peek need not touch the LRU order. */
  #peeked: string | null = null

  constructor(parts: OpenSnapshotsDeps, max = MAX_OPEN) {
    this.#parts = parts
    this.#max = max
    this.#packs = new PackCache(PACK_CACHE_BYTES, parts.loads)
    parts.health.onDamage(({ snapshot }) => {
      if (this.#entries.has(snapshot)) this.#drop(snapshot)
    })
  }

  /** Calls `listener` with every snapshot that was opened. */
  set onOpen(listener: (snapshot: Snapshot) => void) {
    this.#onOpen = listener
  }

  /** The cache of pack blocks, for metrics. */
  get packs(): Pick<PackCache, 'bytes' | 'lookups'> {
    return this.#packs
  }

  /** Throws `data-damaged` if the version is damaged, or if `work` finds damage in its files. */
  async use<T>(version: Version, work: (snapshot: Snapshot) => Promise<T> | T): Promise<T> {
    const { health } = this.#parts
    await health.require(version)
    const entry = await this.#opened(version)
    try {
      return await work(entry.snapshot!)
    } catch (error) {
      throw await health.problemOf(version, error)
    } finally {
      entry.users--
      if (entry.dropped && entry.users === 0) this.#close(entry)
    }
  }

  /** An open snapshot with one more user. If a cached copy was damaged, it is opened once more, with a new copy. */
  #opened(version: Version): Promise<Entry> {
    return this.#parts.health.reading(version, async () => {
      const entry = this.#entry(version)
      entry.users++
      try {
        if (entry.snapshot === null) await entry.opening
        return entry
      } catch (error) {
        entry.users--
        throw error
      }
    })
  }

  /** The snapshot if it is open, for synchronous work only: it may be closed right after. */
  peek(name: string): Snapshot | null {
    const entry = this.#entries.get(name)
    if (!entry?.snapshot) return null
    if (name !== this.#peeked) {
      this.#entries.delete(name)
      this.#entries.set(name, entry)
      this.#peeked = name
    }
    return entry.snapshot
  }

  async close(): Promise<void> {
    for (const name of [...this.#entries.keys()]) this.#drop(name)
  }

  #entry(version: Version): Entry {
    const name = version.snapshot
    const openEntry = this.#entries.get(name)
    this.#peeked = null
    if (openEntry) {
      this.#entries.delete(name)
      this.#entries.set(name, openEntry)
      return openEntry
    }
    const { blobs, verification } = this.#parts
    const opening = openSnapshot(blobs.files(name, version.manifest), this.#packs, version.manifest)
    const entry: Entry = { opening, snapshot: null, users: 0, dropped: false }
    this.#entries.set(name, entry)
    opening.then(
      (snapshot) => {
        entry.snapshot = snapshot
        verification.verify(version)
        this.#onOpen(snapshot)
      },
      () => {
        // Unless the entry was dropped in the meantime and replaced by another one.
        if (this.#entries.get(name) === entry) this.#entries.delete(name)
      },
    )
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max) break
      this.#drop(oldest)
    }
    return entry
  }

  #drop(name: string): void {
    const entry = this.#entries.get(name)!
    this.#entries.delete(name)
    if (this.#peeked === name) this.#peeked = null
    entry.dropped = true
    if (entry.users === 0) this.#close(entry)
  }

  #close(entry: Entry): void {
    entry.opening.then((snapshot) => snapshot.close()).catch(() => {})
  }
}
