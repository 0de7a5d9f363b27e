import { type CompiledColumn, PositionBits, type Snapshot } from '@wayleave/geodata/features'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import {
  BUFFER,
  MAX_CELL_TEXTS,
  type TileAddress,
  type TileColumn,
  TileThreads,
  tileBounds,
  tileColumnOf,
  tileSnapshotOf,
} from '@wayleave/geodata/tiles'
import {
  type FilterPlan,
  planConditions,
  type QueryEngine,
  type TimedWork,
  type Workload,
} from '@wayleave/query'
import { invalidInput, Problem } from '../../base/problem.ts'
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

/** What a tile shows. */
export interface ShownTile {
  address: TileAddress
  isDeepest: boolean
  /** Whether points are counted by cells at this zoom; undefined if the tile decides. */
  hasCells: boolean | undefined
  /** Which features it shows; null for all. */
  query: ItemsQuery | null
  /** The columns that a point which stands for several features sums up. */
  by: readonly string[]
}

/** What an entry takes beside its value. Its key has the filter's text, which may be longer than the value. */
const entryBytes = (key: string) => key.length + 100

/**
 * Tiles of the features that a filter selects, and tiles whose points sum up columns, encoded in threads. If a tile shows a small part of the dataset, its
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

  /** The gzipped tile; empty if it shows nothing. Throws 400 for a filter or a column that cannot be used. */
  async tile(version: Version, shown: ShownTile, client: TileClient): Promise<Buffer> {
    const { address: tile, isDeepest, hasCells, query, by } = shown
    const selection = `${version.snapshot}\n${query?.selection ?? ''}`
    const rules = `${isDeepest ? ' deepest' : ''}${hasCells ? ' cells' : ''}${JSON.stringify(by)}`
    const key = `${selection}\n${tile.z}/${tile.x}/${tile.y}${rules}`
    const cached = this.#tiles.get(key)
    if (cached) return cached
    if (this.#encoding.size >= MAX_WAITING)
      throw new Problem('overloaded', undefined, { headers: { 'retry-after': '1' }, limit: 'tiles' })
    return this.#encoding.join(key, client.disconnected, async (abandoned) => {
      const bytes = await this.#parts.snapshots.use(version, async (snapshot) => {
        const summed = await Promise.all(by.map((name) => this.#column(snapshot, name)))
        const positions =
          this.#selections.get(selection) ??
          (await this.#select({ snapshot, version, query, owner: client.owner }, selection, tile, abandoned))
        if (positions.next(0) === -1) return Buffer.alloc(0)
        const selected = { tile, positions: positions.bytes, isDeepest, hasCells, summed }
        return this.#encode(snapshot, version, selected, abandoned)
      })
      this.#tiles.set(key, bytes)
      return bytes
    })
  }

  async close(): Promise<void> {
    await this.#threads.close()
  }

  /** The column for threads. Throws 400 if its values cannot be summed up. */
  async #column(snapshot: Snapshot, name: string): Promise<TileColumn> {
    const column = await this.#parts.engine.columns.load(snapshot, name)
    const shared = column && tileColumnOf(column)
    if (shared) return shared
    throw invalidInput('by', `cannot have "${name}": ${reasonOf(column)}`)
  }

  async #encode(
    snapshot: Snapshot,
    version: Version,
    selected: Parameters<TileThreads['encode']>[1],
    signal: AbortSignal,
  ): Promise<Buffer> {
    const { files } = snapshot
    const tileSnapshot = await tileSnapshotOf(snapshot, version.table)
    // If the pack is in a bucket, only the parts that the tile shows are fetched.
    const pack = files.isLocal ? null : await files.open(SNAPSHOT_FILES.pack)
    return this.#threads.encode(tileSnapshot, selected, { pack, signal }).finally(() => pack?.close())
  }

  /** The features in a tile, and perhaps others. A selection of all features is kept under `key`. */
  async #select(
    { query, ...rest }: Selecting<ItemsQuery | null>,
    key: string,
    tile: TileAddress,
    signal: AbortSignal,
  ): Promise<PositionBits> {
    if (query === null) {
      const { rows } = rest.snapshot.manifest
      const positions = PositionBits.empty(rows)
      positions.addRun(0, rows)
      this.#selections.set(key, positions)
      return positions
    }
    const selecting = { ...rest, query }
    return (
      (await this.#selectNear(selecting, tile, signal)) ??
      (await this.#selecting.join(key, signal, (shared) => this.#selectAll(selecting, key, shared)))
    )
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

function reasonOf(column: CompiledColumn | null): string {
  if (column?.type === 'text') return `it has more than ${MAX_CELL_TEXTS} different values`
  return column ? `values of the type ${column.type} cannot be summed up` : 'it is not held in columns'
}

interface Selecting<Query = ItemsQuery> {
  snapshot: Snapshot
  version: Version
  query: Query
  /** For whom the features are selected. */
  owner: string
}
