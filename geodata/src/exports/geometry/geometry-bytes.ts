import { ExportError } from '../../export-error.ts'
import { GEOMETRY_TYPES } from '../../feature.ts'

export const POINT = 1
export const LINE_STRING = 2
export const POLYGON = 3
export const MULTI_POINT = 4
export const MULTI_LINE_STRING = 5
export const MULTI_POLYGON = 6
export const COLLECTION = 7

/** The nesting depth of positions in `coordinates`, by WKB code. */
export const DEPTH: readonly number[] = [0, 0, 1, 2, 1, 2, 3]

/** The length of `{"type":"`. */
const TYPE_AT = 9
/** The offset after `","coordinates":` or `","geometries":`, which follows the type's name, by WKB code. */
const BODY_AT = GEOMETRY_TYPES.map(
  (type) => TYPE_AT + type.length + (type === 'GeometryCollection' ? 15 : 16),
)

const CAPITAL_P = 0x50
const CAPITAL_L = 0x4c
const CAPITAL_M = 0x4d
const CAPITAL_G = 0x47
const SMALL_I = 0x69

/** The WKB code of the geometry whose `{` is at `start`, or 0 for `null`. */
export function geometryCode(bytes: Buffer, start: number): number {
  if (bytes[start] === 0x6e) return 0
  const at = start + TYPE_AT
  switch (bytes[at]) {
    case CAPITAL_P:
      return bytes[at + 2] === SMALL_I ? POINT : POLYGON
    case CAPITAL_L:
      return LINE_STRING
    case CAPITAL_M:
      if (bytes[at + 5] === CAPITAL_L) return MULTI_LINE_STRING
      return bytes[at + 7] === SMALL_I ? MULTI_POINT : MULTI_POLYGON
    case CAPITAL_G:
      return COLLECTION
  }
  throw new ExportError('snapshot-damaged', 'features.pack holds a geometry of an unknown type.')
}

/** The offset of the `[` of `coordinates` (or of `geometries`). */
export function geometryBody(start: number, code: number): number {
  return start + BODY_AT[code - 1]!
}

/** Powers of ten that are exact doubles. */
export const POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)
/** Fifteen digits and a point. */
export const MAX_NUMBER_BYTES = 16
export const MAX_EXACT = 999_999_999_999_999

/**
 * Parses the ASCII number in `bytes` from `start` to `end`. With up to 15 digits and no exponent, the integer
 * and the power of ten are both exact doubles, so that one division rounds correctly.
 */
export function parseNumber(bytes: Buffer, start: number, end: number): number {
  let p = start
  const negative = bytes[p] === 0x2d
  if (negative) p++
  if (end - p > MAX_NUMBER_BYTES) return parseLongNumber(bytes, start, end)
  let digits = 0
  let point = -1
  for (; p < end; p++) {
    const digit = bytes[p]! - 48
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit
    else if (bytes[p] === 0x2e) point = p
    else return parseLongNumber(bytes, start, end)
  }
  if (digits > MAX_EXACT) return parseLongNumber(bytes, start, end)
  const value = point < 0 ? digits : digits / POWERS[end - point - 1]!
  return negative ? -value : value
}

/** Nine digits fit into 32 bits, and 10^9 times 5^9 is an exact double. */
const HALF_DIGITS = 9

/** Numbers with up to 18 digits, such as most doubles that a program has printed; others are passed to the runtime. */
function parseLongNumber(bytes: Buffer, start: number, end: number): number {
  const isNegative = bytes[start] === 0x2d
  const first = isNegative ? start + 1 : start
  let head = 0
  let tail = 0
  let headDigits = 0
  let tailDigits = 0
  let point = end - 1
  for (let p = first; p < end; p++) {
    const digit = bytes[p]! - 48
    if (digit >= 0 && digit <= 9) {
      if (headDigits < HALF_DIGITS) {
        head = (head * 10 + digit) | 0
        headDigits++
      } else {
        tail = (tail * 10 + digit) | 0
        tailDigits++
      }
    } else if (bytes[p] === 0x2e) point = p
    else tailDigits = HALF_DIGITS + 1
  }
  if (tailDigits > 0 && tailDigits <= HALF_DIGITS) {
    const value = divideExactly(head * POWERS[tailDigits]!, tail, POWERS[end - 1 - point]!)
    if (!Number.isNaN(value)) return isNegative ? -value : value
  }
  return Number(bytes.toString('latin1', start, end))
}

/** Veltkamp's constant, which splits a double into two halves. */
const SPLITTER = 2 ** 27 + 1

/**
 * The double next to (a + b) / divisor, for a that is 0 or greater than b >= 0; NaN if it is too close to the middle of two doubles to
 * tell. The quotient's remainder is computed exactly (Dekker 1971), so that q + correction is exact to about 100 bits.
 */
function divideExactly(a: number, b: number, divisor: number): number {
  const high = a + b
  const low = b - (high - a)
  const q = high / divisor
  const product = q * divisor
  const q1 = SPLITTER * q - (SPLITTER * q - q)
  const d1 = SPLITTER * divisor - (SPLITTER * divisor - divisor)
  const q2 = q - q1
  const d2 = divisor - d1
  const productLow = q1 * d1 - product + q1 * d2 + q2 * d1 + q2 * d2
  const correction = (high - product - productLow + low) / divisor
  const margin = q * 2 ** -90
  const value = q + (correction - margin)
  return value === q + (correction + margin) ? value : Number.NaN
}
