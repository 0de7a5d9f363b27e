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

const tileSnapshots = new WeakMap<Snapshot, Promise<TileSnapshot>>()

/** The same object for the same open snapshot, so that its places are computed once. */
export function tileSnapshotOf(snapshot: Snapshot, table: string): Promise<TileSnapshot> {
  let reading = tileSnapshots.get(snapshot)
  if (reading === undefined) {
    reading = readTileSnapshot(snapshot, table)
    // A failed attempt is not kept: the next call tries again.
    reading.catch(() => tileSnapshots.delete(snapshot))
    tileSnapshots.set(snapshot, reading)
  }
  return reading
}

async function readTileSnapshot(snapshot: Snapshot, table: string): Promise<TileSnapshot> {
  const { folder, manifest, packBlocks } = snapshot
  const { isPoints, located, leaves, nodes, offsets } = await snapshot.wholeIndex()
  const places = isPoints ? new SharedArrayBuffer(PLACES_HEAD_BYTES + located * 8) : null
  const { columns } = manifest
  return { folder, table, columns, isPoints, located, leaves, nodes, offsets, packBlocks, places }
}
