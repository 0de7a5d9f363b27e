import { isPlainDay, isPlainTime, isRounded } from './plain-texts.ts'
import { KIND, kindOfText } from './value-kinds.ts'

const ZERO = 48
const NINE = 57
const MINUS = 45
const POINT = 46
const SLASH = 47

/**
 * `kindOfText` for a text in bytes. Words, plain numbers, dates and UTC timestamps, which most columns
 * contain, are recognised in the bytes; only other texts are converted to a string.
 */
export function kindOfTextBytes(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start]!
  const isDigit = first >= ZERO && first <= NINE
  if (!isDigit && first !== MINUS && first !== POINT) {
    const length = end - start
    return length === 4 || length === 5 ? kindOfText(bytes.toString('latin1', start, end)) : KIND.text
  }
  const kind = first === POINT ? 0 : plainNumberKind(bytes, first === MINUS ? start + 1 : start, end)
  if (kind !== 0) return kind
  if (isDigit && end - start >= 10 && isPlainDay(bytes, start)) {
    const slashed = bytes[start + 4] === SLASH ? KIND.slashed : 0
    if (end - start === 10) return KIND.date | slashed
    if (isPlainTime(bytes, start + 10, end)) return KIND.timestamp | slashed
  }
  return kindOfText(bytes.toString('utf8', start, end))
}

/** Integers of at most 15 digits and numbers with a point, without leading zeros; 0 for anything else. */
function plainNumberKind(bytes: Buffer, first: number, end: number): number {
  const length = end - first
  if (length < 1 || length > 25) return 0
  let point = -1
  for (let at = first; at < end; at++) {
    const byte = bytes[at]!
    if (byte >= ZERO && byte <= NINE) continue
    if (byte !== POINT || point >= 0) return 0
    point = at
  }
  if (point === first || point === end - 1) return 0
  const whole = (point < 0 ? end : point) - first
  if (bytes[first] === ZERO && whole > 1) return 0
  if (point >= 0) return isRounded(bytes, first, end) ? KIND.number | KIND.rounded : KIND.number
  // Minus zero is not an integer, because its sign would be lost.
  const isMinusZero = bytes[first] === ZERO && bytes[first - 1] === MINUS
  return whole <= 15 && !isMinusZero ? KIND.integer : 0
}
