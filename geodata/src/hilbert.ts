/**
 * Positions along a Hilbert curve over the whole world, so that features which are near on the ground are near
 * in the file. 26 bits an axis (0.6 m at the equator) make a key of 52 bits, which a double holds exactly.
 */

const AXIS_BITS = 26
const AXIS_CELLS = 2 ** AXIS_BITS
const HALF_BITS = 13

/** Greater than every key: where features without a place stand. */
export const UNLOCATED_KEY = 2 ** 53

/** The key of a place; longitude and latitude are within ±180 and ±90. */
export function hilbertKey(longitude: number, latitude: number): number {
  let x = cell((longitude + 180) / 360)
  let y = cell((latitude + 90) / 180)
  let high = 0
  let low = 0
  for (let bit = AXIS_BITS - 1; bit >= 0; bit--) {
    const right = (x >>> bit) & 1
    const top = (y >>> bit) & 1
    const quadrant = (3 * right) ^ top
    if (bit >= HALF_BITS) high = (high << 2) | quadrant
    else low = (low << 2) | quadrant
    if (top === 0) {
      // Only the bits below this one matter from here on, so that flipping all of them is harmless.
      if (right === 1) {
        x = ~x
        y = ~y
      }
      const swapped = x
      x = y
      y = swapped
    }
  }
  return high * AXIS_CELLS + low
}

function cell(fraction: number): number {
  const index = Math.floor(fraction * AXIS_CELLS)
  return index < 0 ? 0 : index >= AXIS_CELLS ? AXIS_CELLS - 1 : index
}
