/** Vector tiles: building and reading archives, tiles of selected features, the grid of tiles. */
export { type BuiltTiles, buildTiles } from '../tiles/build-tiles.ts'
export { buildTilesInChildProcess, ProcessEndedError } from '../tiles/build-tiles-in-child-process.ts'
export { PmtilesArchive } from '../tiles/pmtiles-archive.ts'
export { SelectedTilesInThread } from '../tiles/selected-tiles-in-thread.ts'
export { MAX_ZOOM, type TileAddress } from '../tiles/tile-id.ts'
export { ownProperties } from '../tiles/tile-layer.ts'
export type { TileMetadata } from '../tiles/tile-metadata.ts'
export { MAX_LATITUDE, tileSize, worldX, worldY } from '../tiles/web-mercator.ts'
