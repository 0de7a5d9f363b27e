import type { Column } from '../../feature.ts'
import type { Snapshot } from '../../snapshot/open.ts'

/** A snapshot as the threads that make its tiles need it. Its large arrays are in memory that all threads share. */
export interface TileSnapshot {
  folder: string
  table: string
  columns: readonly Column[]
  isPoints: boolean
  /** The number of features with a location. */
  located: number
  leaves: Float64Array
  nodes: Float64Array
  offsets: Uint32Array | Float64Array
  /** The checksums of the blocks of the pack. */
  packBlocks: Uint32Array | undefined
  /** For points: where they are in Web Mercator, once a thread has computed it. See `placesOf`. */
  places: SharedArrayBuffer | null
}

/** The bytes before the coordinates in `places`: its state. */
export const PLACES_HEAD_BYTES = 8

const tileSnapshots = new WeakMap<Snapshot, TileSnapshot>()

/** The same object for the same open snapshot, so that its places are computed once. */
export function tileSnapshotOf(snapshot: Snapshot, table: string): TileSnapshot {
  let tiles = tileSnapshots.get(snapshot)
  if (tiles === undefined) {
    const { folder, manifest, index, packBlocks } = snapshot
    const { isPoints, located, leaves, nodes, offsets } = index
    const places = isPoints ? new SharedArrayBuffer(PLACES_HEAD_BYTES + located * 8) : null
    tiles = {
      folder,
      table,
      columns: manifest.columns,
      isPoints,
      located,
      leaves,
      nodes,
      offsets,
      packBlocks,
      places,
    }
    tileSnapshots.set(snapshot, tiles)
  }
  return tiles
}
