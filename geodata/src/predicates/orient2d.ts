import { exactInteger, fractionBits } from './exact-number.ts'

// Twice the unit roundoff of a double, times the three operations of the determinant (with a margin).
const FILTER = 3.3306690738754716e-16
// Beyond these magnitudes the error-free product below may overflow or lose its low part.
const LARGE = 1e140
const SMALL = 1e-140

/**
 * On which side of the line from a to b the point c lies: positive for left, negative for right, and zero
 * only if the three points are exactly collinear. The sign is exact for all finite doubles. Why this is not
 * a library: docs/decisions/exact-predicates.md.
 */
export function orient2d(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const left = (ax - cx) * (by - cy)
  const right = (ay - cy) * (bx - cx)
  const determinant = left - right
  const bound = FILTER * (Math.abs(left) + Math.abs(right))
  if (determinant > bound || -determinant > bound) return determinant
  return exactSign(ax, ay, bx, by, cx, cy)
}

function exactSign(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const acx = ax - cx
  const bcy = by - cy
  const acy = ay - cy
  const bcx = bx - cx
  // The difference of two doubles is zero only if they are equal, so both products are exactly zero: points on
  // one axis-parallel line, which edges of boxes and grids have in common.
  if ((acx === 0 || bcy === 0) && (acy === 0 || bcx === 0)) return 0
  if (
    isExact(acx, ax, cx) &&
    isExact(bcy, by, cy) &&
    isExact(acy, ay, cy) &&
    isExact(bcx, bx, cx) &&
    isTame(acx) &&
    isTame(bcy) &&
    isTame(acy) &&
    isTame(bcx)
  ) {
    // Rounding is monotone: unequal rounded products have the order of the exact ones, and equal ones are
    // compared by their rounding errors.
    const left = acx * bcy
    const right = acy * bcx
    return left !== right ? left - right : dropped(acx, bcy, left) - dropped(acy, bcx, right)
  }
  const bits = Math.max(
    fractionBits(ax),
    fractionBits(ay),
    fractionBits(bx),
    fractionBits(by),
    fractionBits(cx),
    fractionBits(cy),
  )
  const x = exactInteger(cx, bits)
  const y = exactInteger(cy, bits)
  const determinant =
    (exactInteger(ax, bits) - x) * (exactInteger(by, bits) - y) -
    (exactInteger(ay, bits) - y) * (exactInteger(bx, bits) - x)
  return determinant > 0n ? 1 : determinant < 0n ? -1 : 0
}

/** Whether `difference` is a − b without rounding: its error, computed by subtracting back, is zero. */
function isExact(difference: number, a: number, b: number): boolean {
  const virtual = a - difference
  return a - (difference + virtual) + (virtual - b) === 0
}

function isTame(value: number): boolean {
  const size = Math.abs(value)
  return size === 0 || (size < LARGE && size > SMALL)
}

/** The rounding error of `product`, the rounded a × b: the halves of each factor multiply exactly. */
function dropped(a: number, b: number, product: number): number {
  const aHigh = highHalf(a)
  const bHigh = highHalf(b)
  const aLow = a - aHigh
  const bLow = b - bHigh
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow)
}

function highHalf(value: number): number {
  const spread = value * 134217729
  return spread - (spread - value)
}
