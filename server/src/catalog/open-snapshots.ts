import { totalmem } from 'node:os'
import { openSnapshot, type Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import { PackCache } from '@wayleave/geodata/snapshot/pack-cache.ts'
import type { Blobs } from '../blobs/blobs.ts'

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

/** Opened snapshots, the recently used ones kept open; one in use is never closed under its user. */
export class OpenSnapshots {
  readonly #blobs: Blobs
  readonly #most: number
  readonly #packs = new PackCache(PACK_CACHE_BYTES)
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>()

  /** Asked for again and again, and moved to the end but once. */
  #peeked: string | null = null

  constructor(blobs: Blobs, most = MOST_OPEN) {
    this.#blobs = blobs
    this.#most = most
  }

  async use<T>(name: string, work: (snapshot: Snapshot) => Promise<T> | T): Promise<T> {
    const entry = this.#entry(name)
    entry.users++
    try {
      return await work(entry.snapshot ?? (await entry.opening))
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

  #entry(name: string): Entry {
    const present = this.#entries.get(name)
    this.#peeked = null
    if (present) {
      this.#entries.delete(name)
      this.#entries.set(name, present)
      return present
    }
    const opening = this.#blobs.localFolder(name).then((folder) => openSnapshot(folder, this.#packs))
    const entry: Entry = { opening, snapshot: null, users: 0, dropped: false }
    this.#entries.set(name, entry)
    opening.then(
      (snapshot) => {
        entry.snapshot = snapshot
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
    entry.dropped = true
    if (entry.users === 0) this.#close(entry)
  }

  #close(entry: Entry): void {
    entry.opening.then((snapshot) => snapshot.close()).catch(() => {})
  }
}
