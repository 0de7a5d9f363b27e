/** What bounds the size of a tile. */

/** The max size of a tile, compressed, in bytes. */
export const MAX_TILE_BYTES = 200_000

/** A tile that is larger than this before compression is not tried. */
export const MAX_RAW_BYTES = 4_000_000

/**
 * The deepest zoom shows every feature even in a larger tile, up to this size before compression: a million
 * features at one place are not a map.
 */
export const MAX_DEEPEST_BYTES = 16_000_000

/**
 * A tile with more points than this is dense: it shows those that are alone in their cells, and counts the others.
 */
export const MAX_POINTS_SHOWN = 2500
