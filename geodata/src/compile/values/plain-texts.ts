/**
 * The usual forms of dates, times and numbers, recognised in bytes of ASCII: a regular expression takes ten times
 * as long. False is inconclusive for dates and times: `value-kinds.ts` has the rules for all of their forms.
 */

const ZERO = 48
const NINE = 57
const MINUS = 45
const PLUS = 43
const POINT = 46
const SLASH = 47
const COLON = 58
const MAX_FRACTION_DIGITS = 6
/** `2020-12-28T12:30:00.123456+00` */
const MAX_PLAIN_TIME = 29

/** The max number of significant digits of a double that is written in its shortest form. */
export const MAX_SIGNIFICANT_DIGITS = 17

const ascii = Buffer.alloc(MAX_PLAIN_TIME)

/** The bytes of a short text of ASCII, which are valid until the next call; null for other texts. */
export function asciiOf(text: string): Buffer | null {
  if (text.length > MAX_PLAIN_TIME) return null
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > 127) return null
    ascii[i] = code
  }
  return ascii
}

/**
 * Whether the ten bytes are a day from 1 to 28 of any month, such as `2020-12-28` or `2020/12/28`. The first and the
 * last year have special rules.
 */
export function isPlainDay(bytes: Buffer, at: number): boolean {
  const separator = bytes[at + 4]
  if ((separator !== MINUS && separator !== SLASH) || bytes[at + 7] !== separator) return false
  const year = twoDigits(bytes, at) * 100 + twoDigits(bytes, at + 2)
  const month = twoDigits(bytes, at + 5)
  const day = twoDigits(bytes, at + 8)
  return year > 1 && year < 9999 && month >= 1 && month <= 12 && day >= 1 && day <= 28
}

/** Whether the bytes are a time of day in UTC with seconds, such as `T12:30:00Z`, `T12:30:00.000Z` or ` 12:30:00+00`. */
export function isPlainTime(bytes: Buffer, at: number, end: number): boolean {
  const separator = bytes[at]
  if (separator !== 0x54 && separator !== 0x20) return false
  if (bytes[at + 3] !== COLON || bytes[at + 6] !== COLON) return false
  if (!(twoDigits(bytes, at + 1) < 24 && twoDigits(bytes, at + 4) < 60 && twoDigits(bytes, at + 7) < 60))
    return false
  const from = endOfFraction(bytes, at + 9, end)
  const zone = end - from
  if (zone === 0) return true
  if (zone === 1) return bytes[from] === 0x5a
  return zone === 3 && bytes[from] === PLUS && bytes[from + 1] === ZERO && bytes[from + 2] === ZERO
}

/** Where the up to six digits of a fraction of a second end that may be at `at`. */
function endOfFraction(bytes: Buffer, at: number, end: number): number {
  if (bytes[at] !== POINT) return at
  const limit = Math.min(end, at + 1 + MAX_FRACTION_DIGITS)
  let digit = at + 1
  while (digit < limit && bytes[digit]! >= ZERO && bytes[digit]! <= NINE) digit++
  return digit === at + 1 ? at : digit
}

/** Whether a number, which may have a point, has more digits than a double keeps, not counting zeros at both ends. */
export function isRounded(bytes: Buffer, first: number, end: number): boolean {
  if (end - first <= MAX_SIGNIFICANT_DIGITS) return false
  let from = first
  while (from < end && (bytes[from] === ZERO || bytes[from] === POINT)) from++
  let to = end
  while (to > from && (bytes[to - 1] === ZERO || bytes[to - 1] === POINT)) to--
  let digits = 0
  for (let at = from; at < to; at++) if (bytes[at] !== POINT) digits++
  return digits > MAX_SIGNIFICANT_DIGITS
}

/** Returns NaN if there are no two digits at `at`. */
function twoDigits(bytes: Buffer, at: number): number {
  const tens = bytes[at]! - ZERO
  const ones = bytes[at + 1]! - ZERO
  return tens >= 0 && tens <= NINE - ZERO && ones >= 0 && ones <= NINE - ZERO ? tens * 10 + ones : NaN
}
