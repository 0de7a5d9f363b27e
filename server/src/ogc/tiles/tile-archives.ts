import { PmtilesArchive, type TileAddress } from '@wayleave/geodata/tiles'
import { StorageUnavailableError } from '../../base/storage/object-store.ts'
import type { Blobs } from '../../data/blobs/blobs.ts'
import { DamagedDerivedError, type DerivedObjects } from '../../data/blobs/derived-objects.ts'
import type { Version } from '../../data/catalog/dataset.ts'
import { ByteLru } from './byte-lru.ts'
import { archivePath, buildOf, isTilesIntact, type KeptTiles, TILES_FILE } from './tile-files.ts'
import type { TileStates } from './tile-states.ts'

/** Max open archives. Their directories take about 24 bytes for each tile. */
const MAX_OPEN = 64
/** Size of the cache of tiles, in bytes. */
const MAX_CACHED_BYTES = 64 << 20

interface OpenArchive {
  archive: PmtilesArchive
  built: KeptTiles
  /** Tells archives apart; the same archive has another number when it is opened again. */
  number: number
  /** Identifies the archive's bytes; part of each tile's ETag. */
  tag: string
  /** See `buildOf`. */
  build: string | null
}

/** A tile of an archive: its gzipped bytes, or null if it has no features. */
export interface StoredTile {
  bytes: Buffer | null
  etag: string
  /** See `buildOf`. */
  build: string | null
}

/**
 * The open archives (LRU) and the tiles that were read from them (LRU by bytes). An archive is compared with its
 * checksum before this process first uses it; a damaged one is removed, so that it is built again. An archive that
 * was replaced is closed when that is announced, so no request needs to look whether its file is still the same.
 */
export class TileArchives {
  readonly #parts: { blobs: Blobs; states: TileStates }
  readonly #open = new Map<string, OpenArchive>()
  readonly #opening = new Map<string, Promise<OpenArchive | null>>()
  readonly #tiles = new ByteLru<number, StoredTile & { bytes: Buffer }>(
    MAX_CACHED_BYTES,
    ({ bytes }) => bytes.length + 100,
  )
  #opened = 0
  /** Number of replacements heard of: an archive that was opened meanwhile may be the one before. */
  #replacements = 0

  constructor(parts: { blobs: Blobs; states: TileStates }) {
    this.#parts = parts
    parts.states.onReplacement((replaced) => {
      this.#replacements++
      for (const snapshot of replaced === null ? this.#open.keys() : [replaced]) this.#close(snapshot)
    })
  }

  /** The tile if its archive is open and its bytes are in memory; undefined otherwise. */
  peek({ snapshot }: Version, tile: TileAddress): StoredTile | undefined {
    const open = this.#open.get(snapshot)
    if (open === undefined) return undefined
    const entry = open.archive.find(tile)
    if (entry !== -1) return this.#tiles.peek(keyOf(open, entry))
    return { bytes: null, etag: etagOf(open, entry), build: open.build }
  }

  /** The deepest zoom of an archive that is open; null if it is not. */
  maxZoom({ snapshot }: Version): number | null {
    return this.#open.get(snapshot)?.archive.header.maxZoom ?? null
  }

  /** The tile, read from the archive; null if the version has no archive. */
  async read(version: Version, tile: TileAddress): Promise<StoredTile | null> {
    const open = await this.open(version)
    if (open === null) return null
    const entry = open.archive.find(tile)
    const etag = etagOf(open, entry)
    const { build } = open
    if (entry === -1) return { bytes: null, etag, build }
    const key = keyOf(open, entry)
    const cached = this.#tiles.get(key)
    if (cached) return cached
    const bytes = await open.archive.read(entry).catch(async (error: unknown) => {
      // It was closed before the read began, because it was replaced.
      if (this.#open.get(version.snapshot) !== open) return null
      if (error instanceof DamagedDerivedError) {
        this.#close(version.snapshot)
        await this.#parts.states.discardDamaged(version, open.built)
      }
      throw error
    })
    if (bytes === null) return this.read(version, tile)
    const stored = { bytes, etag, build }
    this.#tiles.set(key, stored)
    return stored
  }

  /** The version's archive; null if it has none. */
  async open(version: Version): Promise<OpenArchive | null> {
    const { snapshot } = version
    const openArchive = this.#open.get(snapshot) ?? this.#opening.get(snapshot)
    if (openArchive) return openArchive
    const opening = this.#openFile(version).finally(() => this.#opening.delete(snapshot))
    this.#opening.set(snapshot, opening)
    return opening
  }

  async close(): Promise<void> {
    for (const { archive } of this.#open.values()) await archive.close()
    this.#open.clear()
  }

  /** Reads under way can finish. */
  #close(snapshot: string): void {
    this.#open
      .get(snapshot)
      ?.archive.close()
      .catch(() => {})
    this.#open.delete(snapshot)
  }

  async #openFile(version: Version): Promise<OpenArchive | null> {
    for (;;) {
      const replacements = this.#replacements
      const open = await this.#openCurrent(version)
      if (open === null) return null
      if (replacements !== this.#replacements) {
        await open.archive.close()
        continue
      }
      this.#open.set(version.snapshot, open)
      for (const oldest of this.#open.keys()) {
        if (this.#open.size <= MAX_OPEN) break
        this.#close(oldest)
      }
      return open
    }
  }

  async #openCurrent(version: Version): Promise<OpenArchive | null> {
    const { blobs, states } = this.#parts
    const built = await states.find(version)
    if (!built) return null
    const archive = blobs.derived
      ? await openStored(blobs.derived, version.snapshot)
      : await openLocal(await blobs.localFolder(version.snapshot), built)
    if (archive === null) {
      await states.discardDamaged(version, built)
      return null
    }
    const tag = built.sha256.slice(0, 16)
    return { archive, built, number: ++this.#opened, tag, build: buildOf(built) }
  }
}

async function openLocal(folder: string, built: KeptTiles): Promise<PmtilesArchive | null> {
  if (!(await isTilesIntact(folder, built))) return null
  return PmtilesArchive.open(archivePath(folder))
}

/** An archive in a bucket is read by blocks, each of which is verified. */
async function openStored(derived: DerivedObjects, snapshot: string): Promise<PmtilesArchive | null> {
  const stored = await derived.find(snapshot, TILES_FILE)
  if (!stored) return null
  return PmtilesArchive.read(stored.open(false)).catch((error: unknown) => {
    if (error instanceof StorageUnavailableError) throw error
    return null
  })
}

/** The key of a tile in the cache: a number, because making and hashing a text takes longer. */
function keyOf({ number }: OpenArchive, entry: number): number {
  return number * 2 ** 32 + entry
}

function etagOf({ tag }: OpenArchive, entry: number): string {
  return `"${tag}.${entry}"`
}
