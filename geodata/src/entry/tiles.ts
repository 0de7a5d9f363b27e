/** Vector tiles: building and reading archives, tiles of selected features, the grid of tiles. */

export { PmtilesArchive } from '../tiles/archive/pmtiles-archive.ts'
export type { TileMetadata } from '../tiles/archive/tile-metadata.ts'
export { type BuiltTiles, buildTiles } from '../tiles/build/build-tiles.ts'
export { buildTilesInChildProcess } from '../tiles/build/build-tiles-in-child-process.ts'
export { MAX_CELL_TEXTS, type TileColumn, tileColumnOf } from '../tiles/encode/cell-values.ts'
export { ownProperties } from '../tiles/encode/tile-layer.ts'
export { tileSnapshotOf } from '../tiles/selected/tile-snapshot.ts'
export { TileThreads } from '../tiles/selected/tile-threads.ts'
export { clipShape } from '../tiles/shapes/clip-shape.ts'
export { type Shape, ShapeBuilder } from '../tiles/shapes/shape.ts'
export { MAX_ZOOM, type TileAddress } from '../tiles/tile-id.ts'
export { BUFFER, MAX_LATITUDE, tileBounds, tileSize, worldX, worldY } from '../tiles/web-mercator.ts'
