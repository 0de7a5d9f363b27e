import { totalmem } from 'node:os'
import { PackCache } from '@wayleave/geodata/pack/pack-cache.ts'
import { openSnapshot, type Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Version } from './dataset.ts'
import type { SnapshotHealth } from './snapshot-health.ts'
import type { Verification } from './verification.ts'

/** An index takes some 25 bytes a feature: this many snapshots of a million features are 1.6 GB. */
const MOST_OPEN = 64
/** Blocks of packs that were read and may be read again: the places that people look at. */
const PACK_CACHE_BYTES = Math.min(1024 ** 3, Math.floor(totalmem() / 16))

interface Entry {
  opening: Promise<Snapshot>
  snapshot: Snapshot | null
  users: number
  dropped: boolean
}

interface OpenSnapshotsParts {
  blobs: Blobs
  health: SnapshotHealth
  verification: Verification
}

/**
 * Opened snapshots, the recently used ones kept open; one in use is never closed under its user. A damaged one is
 * closed and not opened again. Opening one starts its verification in the background.
 */
export class OpenSnapshots {
  readonly #parts: OpenSnapshotsParts
  readonly #most: number
  readonly #packs = new PackCache(PACK_CACHE_BYTES)
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>()

  /** Asked for again and again, and moved to the end but once. */
  #peeked: string | null = null

  constructor(parts: OpenSnapshotsParts, most = MOST_OPEN) {
    this.#parts = parts
    this.#most = most
    parts.health.onDamage(({ snapshot }) => {
      if (this.#entries.has(snapshot)) this.#drop(snapshot)
    })
  }

  /** Throws `data-damaged` if the version is damaged, or if `work` meets damage in its files. */
  async use<T>(version: Version, work: (snapshot: Snapshot) => Promise<T> | T): Promise<T> {
    const { health } = this.#parts
    await health.require(version)
    const entry = this.#entry(version)
    entry.users++
    try {
      return await work(entry.snapshot ?? (await entry.opening))
    } catch (error) {
      throw await health.problemOf(version, error)
    } finally {
      entry.users--
      if (entry.dropped && entry.users === 0) this.#close(entry)
    }
  }

  /** The snapshot if it is open, for work that waits for nothing; it may be closed right after. */
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
    const present = this.#entries.get(name)
    this.#peeked = null
    if (present) {
      this.#entries.delete(name)
      this.#entries.set(name, present)
      return present
    }
    const { blobs, verification } = this.#parts
    const opening = blobs
      .localFolder(name)
      .then((folder) => openSnapshot(folder, this.#packs, version.manifest))
    const entry: Entry = { opening, snapshot: null, users: 0, dropped: false }
    this.#entries.set(name, entry)
    opening.then(
      (snapshot) => {
        entry.snapshot = snapshot
        verification.verify(version)
      },
      () => {
        // Unless it was dropped meanwhile, and another took its place.
        if (this.#entries.get(name) === entry) this.#entries.delete(name)
      },
    )
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#most) break
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
