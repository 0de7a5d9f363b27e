/** Vector tiles: building and reading archives, tiles of selected features, the grid of tiles. The builder is imported when it is called. */

export { PmtilesArchive } from '../tiles/archive/pmtiles-archive.ts'
export type { TileMetadata } from '../tiles/archive/tile-metadata.ts'
export type { BuiltTiles } from '../tiles/build/build-tiles.ts'
export {
  buildPartInChildProcess,
  buildTilesInChildProcess,
  joinPartsInChildProcess,
  planPartsInChildProcess,
} from '../tiles/build/build-tiles-in-child-process.ts'
export { removeOldPartitions } from '../tiles/build/partition-store.ts'
export { MAX_CELL_TEXTS, type TileColumn, tileColumnOf } from '../tiles/encode/cell-values.ts'
export { ownProperties } from '../tiles/encode/tile-layer.ts'
export { tileSnapshotOf } from '../tiles/selected/tile-snapshot.ts'
export { TileThreads } from '../tiles/selected/tile-threads.ts'
export { clipShape } from '../tiles/shapes/clip-shape.ts'
export { type Shape, ShapeBuilder } from '../tiles/shapes/shape.ts'
export { MAX_ZOOM, type TileAddress } from '../tiles/tile-id.ts'
export { BUFFER, MAX_LATITUDE, tileBounds, tileSize, worldX, worldY } from '../tiles/web-mercator.ts'

export const buildTiles: typeof import('../tiles/build/build-tiles.ts').buildTiles = async (...args) =>
  (await import('../tiles/build/build-tiles.ts')).buildTiles(...args)

export const partsKey: AsyncOf<typeof import('../tiles/build/build-parts.ts').partsKey> = async (...args) =>
  (await import('../tiles/build/build-parts.ts')).partsKey(...args)

export const sharesOfParts: AsyncOf<typeof import('../tiles/build/build-parts.ts').sharesOfParts> = async (
  ...args
) => (await import('../tiles/build/build-parts.ts')).sharesOfParts(...args)

type AsyncOf<F extends (...args: never[]) => unknown> = (...args: Parameters<F>) => Promise<ReturnType<F>>
