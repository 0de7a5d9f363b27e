const MINUS = 45
const POINT = 46
const ZERO = 48
const NINE = 57

/** Powers of ten that a double represents exactly. */
const POWERS = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent)

/**
 * Parses plain decimal digits, such as `-12.5`, from bytes. Returns NaN for anything else, and for more than
 * 15 digits. Within 15 digits, the integer and the power of ten are exact, so that their quotient is the
 * nearest double.
 */
export function readDecimal(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  const isNegative = at < to && bytes[at] === MINUS
  if (isNegative) at++
  const first = at
  let digits = 0
  let point = -1
  for (; at < to; at++) {
    const byte = bytes[at]!
    if (byte >= ZERO && byte <= NINE) digits = digits * 10 + (byte - ZERO)
    else if (byte === POINT && point < 0) point = at
    else return NaN
  }
  const length = to - first - (point < 0 ? 0 : 1)
  if (length === 0 || length > 15 || point === first || point === to - 1) return NaN
  const value = point < 0 ? digits : digits / POWERS[to - 1 - point]!
  return isNegative ? -value : value
}
