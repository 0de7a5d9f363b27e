import { KIND, kindOfText, MAX_SIGNIFICANT_DIGITS } from './value-kinds.ts'

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
  if (isDigit) {
    const slashed = bytes[start + 4] === SLASH ? KIND.slashed : 0
    if (end - start === 10 && isDayText(bytes, start)) return KIND.date | slashed
    if (end - start === 20 && isDayText(bytes, start) && isUtcTimeText(bytes, start + 10)) {
      // The first and last year have special rules, so leave them to `kindOfText`.
      const year = fourDigits(bytes, start)
      if (year > 1 && year < 9999) return KIND.timestamp | slashed
    }
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
  if (point >= 0) return isRounded(bytes, first, point, end) ? KIND.number | KIND.rounded : KIND.number
  // Minus zero is not an integer, because its sign would be lost.
  const isMinusZero = bytes[first] === ZERO && bytes[first - 1] === MINUS
  return whole <= 15 && !isMinusZero ? KIND.integer : 0
}

/** Whether digits with a point are more than a double keeps, not counting zeros at both ends. */
function isRounded(bytes: Buffer, first: number, point: number, end: number): boolean {
  if (end - first - 1 <= MAX_SIGNIFICANT_DIGITS) return false
  let from = first
  while (from < end && (bytes[from] === ZERO || bytes[from] === POINT)) from++
  let to = end
  while (to > from && (bytes[to - 1] === ZERO || bytes[to - 1] === POINT)) to--
  return to - from - (point > from && point < to ? 1 : 0) > MAX_SIGNIFICANT_DIGITS
}

function isDigits(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at]! < ZERO || bytes[at]! > NINE) return false
  return true
}

function twoDigits(bytes: Buffer, at: number): number {
  return (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO
}

function fourDigits(bytes: Buffer, at: number): number {
  return twoDigits(bytes, at) * 100 + twoDigits(bytes, at + 2)
}

/** Whether the ten bytes are a day from 1 to 28 of any month, such as `2020-12-28` or `2020/12/28`. False is inconclusive. */
function isDayText(bytes: Buffer, at: number): boolean {
  const separator = bytes[at + 4]
  if ((separator !== MINUS && separator !== SLASH) || bytes[at + 7] !== separator) return false
  if (!isDigits(bytes, at, at + 4) || !isDigits(bytes, at + 5, at + 7) || !isDigits(bytes, at + 8, at + 10))
    return false
  const month = twoDigits(bytes, at + 5)
  const day = twoDigits(bytes, at + 8)
  return month >= 1 && month <= 12 && day >= 1 && day <= 28 && fourDigits(bytes, at) >= 1
}

/** Whether the ten bytes are a time of day, such as `T12:30:00Z`. False is inconclusive. */
function isUtcTimeText(bytes: Buffer, at: number): boolean {
  const separator = bytes[at]
  if ((separator !== 0x54 && separator !== 0x20) || bytes[at + 9] !== 0x5a) return false
  if (bytes[at + 3] !== 0x3a || bytes[at + 6] !== 0x3a) return false
  for (const part of [at + 1, at + 4, at + 7]) if (!isDigits(bytes, part, part + 2)) return false
  return twoDigits(bytes, at + 1) < 24 && twoDigits(bytes, at + 4) < 60 && twoDigits(bytes, at + 7) < 60
}
