import type { Bbox } from '../geometry/bbox.ts'
import type { TileAddress } from './tile-id.ts'

/**
 * Positions in the square of WebMercatorQuad as integers from 0 (west, north) to 2^32 (east, south): about a
 * centimetre. Equal positions in degrees stay equal, which is what keeps shared borders shared.
 */
export const WORLD_BITS = 32
export const WORLD = 2 ** WORLD_BITS

/** The coordinates in a tile run from 0 to this. */
export const EXTENT_BITS = 12
export const EXTENT = 2 ** EXTENT_BITS

/** How far lines and polygons go beyond a tile's edge, in tile units, so that their strokes have no seams. */
export const BUFFER = 64

/** The deepest zoom that a setting may ask for. */
export const LARGEST_MAX_ZOOM = 16

/** The latitude at which the square of Web Mercator ends. */
export const MAX_LATITUDE = (Math.atan(Math.sinh(Math.PI)) * 180) / Math.PI

const RADIANS = Math.PI / 180

export function worldX(longitude: number): number {
  return Math.round(((longitude + 180) / 360) * WORLD)
}

/** Latitudes beyond the projection's square (the poles) are placed at its edge. */
export function worldY(latitude: number): number {
  if (latitude >= MAX_LATITUDE) return 0
  if (latitude <= -MAX_LATITUDE) return WORLD
  const sine = Math.sin(latitude * RADIANS)
  return Math.round((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * WORLD)
}

function longitudeOf(x: number): number {
  return (x / WORLD) * 360 - 180
}

function latitudeOf(y: number): number {
  return Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / WORLD))) / RADIANS
}

/** The length of a tile's side in world units. */
export function tileSize(z: number): number {
  return 2 ** (WORLD_BITS - z)
}

/** The length of one tile unit in world units. */
export function unitSize(z: number): number {
  return 2 ** (WORLD_BITS - EXTENT_BITS - z)
}

/**
 * The box in degrees in which a tile's features lie, with a margin in tile units. The tiles of the first and
 * the last row go on to the poles, whose features they show at their edge.
 */
export function tileBounds({ z, x, y }: TileAddress, margin = 0): Bbox {
  const size = tileSize(z)
  const more = margin * unitSize(z)
  const [left, right] = [x * size - more, (x + 1) * size + more]
  const [top, bottom] = [y * size - more, (y + 1) * size + more]
  return [
    left <= 0 ? -180 : longitudeOf(left),
    bottom >= WORLD ? -90 : latitudeOf(bottom),
    right >= WORLD ? 180 : longitudeOf(right),
    top <= 0 ? 90 : latitudeOf(top),
  ]
}

/** Fills `xs` and `ys` with the cells of points, each of which lies in exactly one tile of every zoom. */
export function projectPoints(
  leaves: Float64Array,
  stride: number,
  from: number,
  to: number,
  xs: Uint32Array,
  ys: Uint32Array,
): void {
  for (let i = from; i < to; i++) {
    const x = worldX(leaves[i * stride]!)
    const y = worldY(leaves[i * stride + 1]!)
    xs[i] = x < WORLD ? x : WORLD - 1
    ys[i] = y < WORLD ? y : WORLD - 1
  }
}
