import type { PositionBits, Snapshot } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { BUFFER, type TileAddress, TileThreads, tileBounds, tileSnapshotOf } from '@wayleave/geodata/tiles'
import {
  type FilterPlan,
  planConditions,
  type QueryEngine,
  type TimedWork,
  type Workload,
} from '@wayleave/query'
import { Problem } from '../../base/problem.ts'
import type { Version } from '../../data/catalog/dataset.ts'
import type { OpenSnapshots } from '../../data/catalog/open-snapshots.ts'
import type { ItemsQuery } from '../request/items-query.ts'
import { ByteLru } from './byte-lru.ts'
import { SharedWork } from './shared-work.ts'

/** Sizes of the caches, in bytes: selected positions, and finished tiles. */
const MAX_SELECTION_BYTES = 64 << 20
const MAX_CACHED_TILE_BYTES = 32 << 20
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

/** What an entry takes beside its value. Its key has the filter's text, which may be longer than the value. */
const entryBytes = (key: string) => key.length + 100

/**
 * Tiles of the features that a filter selects, encoded in threads. If a tile shows a small part of the dataset, its
 * features alone are selected; otherwise the selection is made once and kept for all tiles of a map. Tiles and
 * selections are cached, made once for concurrent requests, and abandoned when all their clients have left.
 */
export class DynamicTiles {
  readonly #parts: DynamicTilesDeps
  readonly #threads = new TileThreads()
  readonly #selections = new ByteLru<string, PositionBits>(
    MAX_SELECTION_BYTES,
    ({ bytes }, key) => bytes.byteLength + entryBytes(key),
  )
  readonly #tiles = new ByteLru<string, Buffer>(
    MAX_CACHED_TILE_BYTES,
    (bytes, key) => bytes.length + entryBytes(key),
  )
  readonly #selecting = new SharedWork<PositionBits>()
  readonly #encoding = new SharedWork<Buffer>()

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
    return this.#encoding.join(key, client.disconnected, async (abandoned) => {
      const bytes = await this.#parts.snapshots.use(version, async (snapshot) => {
        const selecting = { snapshot, version, query, owner: client.owner }
        const positions =
          this.#selections.get(selection) ??
          (await this.#selectNear(selecting, tile, abandoned)) ??
          (await this.#selecting.join(selection, abandoned, (signal) =>
            this.#selectAll(selecting, selection, signal),
          ))
        if (positions.next(0) === -1) return Buffer.alloc(0)
        return this.#encode(selecting, { tile, positions: positions.bytes, isDeepest }, abandoned)
      })
      this.#tiles.set(key, bytes)
      return bytes
    })
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }

  async #encode(
    { snapshot, version }: Selecting,
    selected: Parameters<TileThreads['encode']>[1],
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { files } = snapshot
    // If the pack is in a bucket, only the parts that the tile shows are fetched.
    const pack = files.isLocal ? null : await files.open(SNAPSHOT_FILES.pack)
    return this.#threads
      .encode(tileSnapshotOf(snapshot, version.table), selected, { pack, signal })
      .finally(() => pack?.close())
  }

  /** The selected features in a tile; null if all features should be selected. */
  #selectNear(selecting: Selecting, tile: TileAddress, signal: AbortSignal): Promise<PositionBits | null> {
    const { snapshot, query } = selecting
    return this.#search(selecting, signal, (plan, work) =>
      this.#parts.engine.positionsNear(snapshot, query, plan, tileBounds(tile, BUFFER), work),
    )
  }

  async #selectAll(selecting: Selecting, key: string, signal: AbortSignal): Promise<PositionBits> {
    const { snapshot, query } = selecting
    const positions = await this.#search(selecting, signal, (plan, work) =>
      this.#parts.engine.positions(snapshot, query, plan, work),
    )
    this.#selections.set(key, positions)
    return positions
  }

  async #search<T>(
    { version, query, owner }: Selecting,
    signal: AbortSignal,
    run: (plan: FilterPlan | null, work: TimedWork) => Promise<T>,
  ): Promise<T> {
    const { workload } = this.#parts
    const plan = planConditions(query.conditions!, version)
    const work = workload.begin(owner, () => signal)
    try {
      return await workload.search(work, () => run(plan, work))
    } finally {
      work.end()
    }
  }
}

interface Selecting {
  snapshot: Snapshot
  version: Version
  query: ItemsQuery
  /** For whom the features are selected. */
  owner: string
}
