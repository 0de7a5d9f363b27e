import { SingleFlights } from '@wayleave/geodata/base'
import type { PositionBits } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { SelectedTilesInThread, type TileAddress } from '@wayleave/geodata/tiles'
import { planConditions, type QueryEngine, type TimedWork, type Workload } from '@wayleave/query'
import { Problem } from '../../base/problem.ts'
import type { Version } from '../../data/catalog/dataset.ts'
import type { OpenSnapshots } from '../../data/catalog/open-snapshots.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import { ByteLru } from './byte-lru.ts'

/** Sizes of the caches, in bytes: selected positions, and finished tiles. */
const MAX_SELECTION_BYTES = 64 << 20
const MAX_CACHED_TILE_BYTES = 32 << 20
/** The files of a snapshot that the thread reads whole. */
const TILE_SOURCES = [SNAPSHOT_FILES.checksums, SNAPSHOT_FILES.index]
/** More tiles than this are not made at once: a map that is moved quickly asks again. */
const MAX_WAITING = 256

export interface DynamicTilesDeps {
  engine: QueryEngine
  snapshots: OpenSnapshots
  workload: Workload
}

/** The client that requests a tile. */
export interface TileClient {
  owner: string
  /** Aborts when the client has disconnected. */
  disconnected: AbortSignal
}

/** A selection under way. It ends when no request waits for it any longer. */
interface Selecting {
  positions: Promise<PositionBits>
  waiting: number
  abandoned: AbortController
}

/** What an entry takes beside its value. Its key has the filter's text, which may be longer than the value. */
const entryBytes = (key: string) => key.length + 100

/**
 * Tiles of the features that a filter selects. The selection is made once and kept for all tiles of a map; the
 * tiles are encoded in a thread. Both are cached, and made once for concurrent requests (single-flight).
 */
export class DynamicTiles {
  readonly #parts: DynamicTilesDeps
  readonly #thread = new SelectedTilesInThread()
  readonly #selections = new ByteLru<string, PositionBits>(
    MAX_SELECTION_BYTES,
    ({ bytes }, key) => bytes.byteLength + entryBytes(key),
  )
  readonly #tiles = new ByteLru<string, Buffer>(
    MAX_CACHED_TILE_BYTES,
    (bytes, key) => bytes.length + entryBytes(key),
  )
  readonly #selecting = new Map<string, Selecting>()
  readonly #encoding = new SingleFlights<string, Buffer>()

  constructor(parts: DynamicTilesDeps) {
    this.#parts = parts
  }

  /** The gzipped tile; empty if it shows nothing. Throws 400 for a filter that cannot be understood. */
  async tile(
    version: Version,
    query: ItemsQuery,
    tile: TileAddress,
    isDeepest: boolean,
    client: TileClient,
  ): Promise<Buffer> {
    const selection = `${version.snapshot}\n${query.selection}`
    const key = `${selection}\n${tile.z}/${tile.x}/${tile.y}${isDeepest ? ' deepest' : ''}`
    const cached = this.#tiles.get(key)
    if (cached) return cached
    if (this.#encoding.size >= MAX_WAITING)
      throw new Problem('overloaded', undefined, { headers: { 'retry-after': '1' }, limit: 'tiles' })
    const { bytes: positions } =
      this.#selections.get(selection) ?? (await this.#selectOnce(version, query, selection, client))
    client.disconnected.throwIfAborted()
    return this.#encoding.run(key, async () => {
      const bytes = await this.#parts.snapshots.use(version, async ({ folder, manifest, files }) => {
        await files.fetch(TILE_SOURCES)
        // If the pack is in a bucket, only the parts that the tile shows are fetched.
        const pack = files.isLocal ? null : await files.open(SNAPSHOT_FILES.pack)
        const snapshot = { folder, table: version.table, manifest }
        return this.#thread
          .encode(snapshot, { tile, positions, isDeepest }, pack)
          .finally(() => pack?.close())
      })
      this.#tiles.set(key, bytes)
      return bytes
    })
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  /** Requests for tiles of one selection share it. */
  async #selectOnce(
    version: Version,
    query: ItemsQuery,
    key: string,
    client: TileClient,
  ): Promise<PositionBits> {
    client.disconnected.throwIfAborted()
    let selecting = this.#selecting.get(key)
    if (!selecting) {
      const abandoned = new AbortController()
      const work = this.#parts.workload.begin(client.owner, () => abandoned.signal)
      const positions = this.#select(version, query, key, work).finally(() => {
        work.end()
        if (this.#selecting.get(key) === selecting) this.#selecting.delete(key)
      })
      selecting = { positions, waiting: 0, abandoned }
      this.#selecting.set(key, selecting)
    }
    const { abandoned } = selecting
    selecting.waiting++
    const leave = () => {
      if (--selecting.waiting > 0) return
      // A request that comes now begins a new selection.
      if (this.#selecting.get(key) === selecting) this.#selecting.delete(key)
      abandoned.abort()
    }
    client.disconnected.addEventListener('abort', leave, { once: true })
    try {
      return await selecting.positions
    } finally {
      client.disconnected.removeEventListener('abort', leave)
    }
  }

  /** Opens the snapshot in the thread of tiles while the features are selected. */
  #openInThread(version: Version): void {
    const { snapshots } = this.#parts
    const opening = snapshots.use(version, async ({ folder, manifest, files }) => {
      await files.fetch(TILE_SOURCES)
      await this.#thread.open({ folder, table: version.table, manifest }, !files.isLocal)
    })
    // The tile itself reports what is wrong with the snapshot.
    opening.catch(() => {})
  }

  async #select(version: Version, query: ItemsQuery, key: string, work: TimedWork): Promise<PositionBits> {
    const { engine, snapshots, workload } = this.#parts
    const plan = planConditions(query.conditions!, version)
    this.#openInThread(version)
    const positions = await snapshots.use(version, (snapshot) =>
      workload.search(work, () => engine.positions(snapshot, query, plan, work)),
    )
    this.#selections.set(key, positions)
    return positions
  }
}
