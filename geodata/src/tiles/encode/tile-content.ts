/** What a zoom's tiles show, summed up over all of them. A feature in several tiles counts in each. */
export interface TileContent {
  tiles: number
  /** Features that are shown with their id. */
  features: number
  /** Features that are not shown themselves, but counted in a point. */
  counted: number
  /** Lines and polygons smaller than a pixel that others of the same total size stand for. */
  merged: number
  /** Features whose properties were left out. */
  withoutProperties: number
  /** Tiles whose lines are coarser than the zoom's grid, so that they stay within the size limit. */
  coarser: number
  /** Tiles above the size limit: at the deepest zoom, which shows every feature. */
  large: number
  /** The size of the largest tile, compressed, in bytes. */
  maxBytes: number
}

export function noContent(): TileContent {
  return {
    tiles: 0,
    features: 0,
    counted: 0,
    merged: 0,
    withoutProperties: 0,
    coarser: 0,
    large: 0,
    maxBytes: 0,
  }
}

export function addContent(sum: TileContent, more: TileContent, tiles = 1): void {
  sum.tiles += more.tiles * tiles
  sum.features += more.features * tiles
  sum.counted += more.counted * tiles
  sum.merged += more.merged * tiles
  sum.withoutProperties += more.withoutProperties * tiles
  sum.coarser += more.coarser * tiles
  sum.large += more.large * tiles
  sum.maxBytes = Math.max(sum.maxBytes, more.maxBytes)
}
