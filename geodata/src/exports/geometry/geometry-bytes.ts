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

const POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent)

/**
 * Parses the ASCII number in `bytes` from `start` to `end`. With up to 15 digits and no exponent, the integer
 * and the power of ten are both exact doubles, so that one division rounds correctly; other numbers are
 * passed to the runtime.
 */
export function parseNumber(bytes: Buffer, start: number, end: number): number {
  let p = start
  const negative = bytes[p] === 0x2d
  if (negative) p++
  if (end - p > 16) return Number(bytes.toString('latin1', start, end))
  let digits = 0
  let point = -1
  for (; p < end; p++) {
    const digit = bytes[p]! - 48
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit
    else if (bytes[p] === 0x2e) point = p
    else return Number(bytes.toString('latin1', start, end))
  }
  if (digits > 999_999_999_999_999) return Number(bytes.toString('latin1', start, end))
  const value = point < 0 ? digits : digits / POWERS[end - point - 1]!
  return negative ? -value : value
}
