/** A tile of WebMercatorQuad: zoom, column from the west, row from the north. */
export interface TileAddress {
  z: number
  x: number
  y: number
}

/** Tile numbers are exact doubles up to this zoom. */
export const MAX_ZOOM = 24

/** The PMTiles number of the first tile of a zoom: the number of tiles of all lower zooms. */
export function firstTileId(z: number): number {
  return (4 ** z - 1) / 3
}

/**
 * The PMTiles number of a tile: zooms one after the other, and the tiles of a zoom along a Hilbert curve. The
 * four children of tile d of a zoom are the tiles 4d to 4d + 3 of the next, so every subtree is a range.
 */
export function tileId({ z, x, y }: TileAddress): number {
  return firstTileId(z) + hilbertIndex(z, x, y)
}

/** The place of a tile along its zoom's Hilbert curve. */
export function hilbertIndex(z: number, column: number, row: number): number {
  let index = 0
  let x = column
  let y = row
  for (let bit = z - 1; bit >= 0; bit--) {
    const right = (x >>> bit) & 1
    const below = (y >>> bit) & 1
    index = index * 4 + ((3 * right) ^ below)
    if (below === 0) {
      if (right === 1) {
        x = ~x
        y = ~y
      }
      const swapped = x
      x = y
      y = swapped
    }
  }
  return index
}

export function tileOf(id: number): TileAddress {
  let z = 0
  while (firstTileId(z + 1) <= id) z++
  let index = id - firstTileId(z)
  let x = 0
  let y = 0
  for (let bit = 0; bit < z; bit++) {
    const quarter = index % 4
    index = (index - quarter) / 4
    const right = quarter >> 1
    const below = right ^ (quarter & 1)
    if (below === 0) {
      if (right === 1) {
        const mask = 2 ** bit - 1
        x = mask - x
        y = mask - y
      }
      const swapped = x
      x = y
      y = swapped
    }
    x += right * 2 ** bit
    y += below * 2 ** bit
  }
  return { z, x, y }
}
