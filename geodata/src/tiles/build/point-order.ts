import { hilbertIndex } from '../tile-id.ts'

/** Bits of each axis that order points: 0.6 m, or the tile units of zoom 14. */
export const KEY_BITS = 26
const DIGIT_BITS = 13

/** Points along the Hilbert curve of tiles, so that the points of every tile of every zoom are a range. */
export interface PointOrder {
  /** The points' numbers. */
  order: Uint32Array
  /** For each of them, in this order, its place along the curve. */
  keys: Float64Array
}

export function orderPoints(xs: Uint32Array, ys: Uint32Array): PointOrder {
  const count = xs.length
  const low = new Uint32Array(count)
  const high = new Uint32Array(count)
  const shift = 32 - KEY_BITS
  for (let i = 0; i < count; i++) {
    const key = hilbertIndex(KEY_BITS, xs[i]! >>> shift, ys[i]! >>> shift)
    high[i] = Math.floor(key / 2 ** KEY_BITS)
    low[i] = key % 2 ** KEY_BITS
  }
  let order = Uint32Array.from({ length: count }, (_, i) => i)
  let spare = new Uint32Array(count)
  for (const digits of [low, high]) {
    for (const down of [0, DIGIT_BITS]) {
      sortByDigit(digits, down, order, spare)
      const swapped = order
      order = spare
      spare = swapped
    }
  }
  const keys = Float64Array.from(order, (point) => high[point]! * 2 ** KEY_BITS + low[point]!)
  return { order, keys }
}

/** One pass of a radix sort, from the lowest digit on; it keeps the order of equal digits. */
function sortByDigit(digits: Uint32Array, down: number, from: Uint32Array, to: Uint32Array): void {
  const mask = 2 ** DIGIT_BITS - 1
  const starts = new Uint32Array(mask + 2)
  for (const point of from) starts[((digits[point]! >>> down) & mask) + 1]!++
  for (let digit = 1; digit < starts.length; digit++) starts[digit]! += starts[digit - 1]!
  for (const point of from) to[starts[(digits[point]! >>> down) & mask]!++] = point
}

/** The number of keys that a tile of a zoom covers. */
export function keysPerTile(z: number): number {
  return 4 ** (KEY_BITS - z)
}

/** The end of the range of points in the tile of point `from`. */
export function endOfTile(keys: Float64Array, from: number, z: number): number {
  const span = keysPerTile(z)
  const limit = (Math.floor(keys[from]! / span) + 1) * span
  let low = from
  let high = from + 1
  // Tiles of few points are the most frequent: look near before looking far.
  for (let step = 1; high < keys.length && keys[high]! < limit; step *= 2) {
    low = high
    high = Math.min(keys.length, high + step)
  }
  while (low + 1 < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < limit) low = middle
    else high = middle
  }
  return high
}
