import { exactInteger, fractionBits } from './exact-number.ts'
import { orient2d } from './orient2d.ts'

/**
 * A point whose position is known exactly. Either `x` and `y` are exact, or they are approximations and
 * `exact` is a fraction of integers (x / w, y / w) in units of a scale, with w positive.
 */
export interface ExactPoint {
  x: number
  y: number
  exact: { x: bigint; y: bigint; w: bigint } | null
}

/** The unit in which all coordinates of a pair of geometries are integers: 2^−bits. */
export interface Scale {
  readonly bits: number
}

// Much larger than the rounding error of an approximated coordinate and of the few operations on it.
const SLACK = 1e-13

export function scaleOf(...coordinates: Float64Array[]): Scale {
  let bits = 0
  for (const list of coordinates) {
    for (const value of list) bits = Math.max(bits, fractionBits(value))
  }
  return { bits }
}

/** The point at which two segments cross in their interiors. Segments are x0, y0, x1, y1 at an offset. */
export function crossing(a: Float64Array, i: number, b: Float64Array, j: number, scale: Scale): ExactPoint {
  const { bits } = scale
  const ax = exactInteger(a[i]!, bits)
  const ay = exactInteger(a[i + 1]!, bits)
  const rx = exactInteger(a[i + 2]!, bits) - ax
  const ry = exactInteger(a[i + 3]!, bits) - ay
  const cx = exactInteger(b[j]!, bits)
  const cy = exactInteger(b[j + 1]!, bits)
  const sx = exactInteger(b[j + 2]!, bits) - cx
  const sy = exactInteger(b[j + 3]!, bits) - cy
  let w = rx * sy - ry * sx
  const t = (cx - ax) * sy - (cy - ay) * sx
  let x = ax * w + t * rx
  let y = ay * w + t * ry
  if (w < 0n) {
    w = -w
    x = -x
    y = -y
  }
  return plainIfPossible(x, y, w, scale)
}

/**
 * A crossing may be exactly at a vertex of a third segment. All vertices are integers in the scale, so such a
 * crossing becomes a plain point that compares equal to the vertex.
 */
function plainIfPossible(x: bigint, y: bigint, w: bigint, scale: Scale): ExactPoint {
  const nearX = ratio(x, w, scale)
  const nearY = ratio(y, w, scale)
  if (x % w === 0n && y % w === 0n) {
    const plainX = ratio(x / w, 1n, scale)
    const plainY = ratio(y / w, 1n, scale)
    const isPlain = isAt(plainX, x / w, scale) && isAt(plainY, y / w, scale)
    if (isPlain) return { x: plainX, y: plainY, exact: null }
  }
  return { x: nearX, y: nearY, exact: { x, y, w } }
}

function isAt(value: number, integer: bigint, scale: Scale): boolean {
  return fractionBits(value) <= scale.bits && exactInteger(value, scale.bits) === integer
}

function ratio(numerator: bigint, denominator: bigint, scale: Scale): number {
  const size = Math.max(bitLength(numerator), bitLength(denominator))
  const excess = BigInt(Math.max(0, size - 1000))
  // Keep a thousand bits of the larger number, so that the quotient of a point near the data stays precise.
  const quotient = Number(numerator >> excess) / Number(denominator >> excess)
  return scale.bits <= 1000 ? quotient * 2 ** -scale.bits : quotient * 2 ** -1000 * 2 ** (1000 - scale.bits)
}

function bitLength(value: bigint): number {
  return (value < 0n ? -value : value).toString(16).length * 4
}

export function midpoint(p: ExactPoint, q: ExactPoint, scale: Scale): ExactPoint {
  const a = fraction(p, scale)
  const b = fraction(q, scale)
  const x = a.x * b.w + b.x * a.w
  const y = a.y * b.w + b.y * a.w
  const w = 2n * a.w * b.w
  return { x: ratio(x, w, scale), y: ratio(y, w, scale), exact: { x, y, w } }
}

function fraction(p: ExactPoint, { bits }: Scale): { x: bigint; y: bigint; w: bigint } {
  return p.exact ?? { x: exactInteger(p.x, bits), y: exactInteger(p.y, bits), w: 1n }
}

/** `orient2d` for a third point whose coordinates need not be doubles. */
export function orientExact(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  p: ExactPoint,
  scale: Scale,
): number {
  if (p.exact === null) return orient2d(ax, ay, bx, by, p.x, p.y)
  const dx = bx - ax
  const dy = by - ay
  const determinant = dx * (p.y - ay) - dy * (p.x - ax)
  const size =
    (Math.abs(ax) + Math.abs(bx)) * (Math.abs(p.y) + Math.abs(ay)) +
    (Math.abs(ay) + Math.abs(by)) * (Math.abs(p.x) + Math.abs(ax))
  if (Math.abs(determinant) > SLACK * size) return determinant
  const { bits } = scale
  const { x, y, w } = p.exact
  const x0 = exactInteger(ax, bits)
  const y0 = exactInteger(ay, bits)
  const exact = (exactInteger(bx, bits) - x0) * (y - y0 * w) - (exactInteger(by, bits) - y0) * (x - x0 * w)
  return exact > 0n ? 1 : exact < 0n ? -1 : 0
}

/** The sign of `value` − the point's x (axis 0) or y (axis 1). */
export function compareCoordinate(value: number, p: ExactPoint, axis: 0 | 1, scale: Scale): number {
  const near = axis === 0 ? p.x : p.y
  if (p.exact === null || Math.abs(value - near) > SLACK * (Math.abs(value) + Math.abs(near))) {
    return value - near
  }
  const exact = exactInteger(value, scale.bits) * p.exact.w - (axis === 0 ? p.exact.x : p.exact.y)
  return exact > 0n ? 1 : exact < 0n ? -1 : 0
}

/** The sign of p − q along an axis. */
export function compareAlong(p: ExactPoint, q: ExactPoint, axis: 0 | 1, scale: Scale): number {
  if (q.exact === null)
    return axis === 0 ? -compareCoordinate(q.x, p, 0, scale) : -compareCoordinate(q.y, p, 1, scale)
  if (p.exact === null)
    return axis === 0 ? compareCoordinate(p.x, q, 0, scale) : compareCoordinate(p.y, q, 1, scale)
  const exact =
    axis === 0 ? p.exact.x * q.exact.w - q.exact.x * p.exact.w : p.exact.y * q.exact.w - q.exact.y * p.exact.w
  return exact > 0n ? 1 : exact < 0n ? -1 : 0
}
