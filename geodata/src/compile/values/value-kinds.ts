import { isDay } from '../../calendar.ts'
import type { ColumnType, SourceColumn, Value } from '../../feature.ts'
import { asciiOf, isPlainDay, isPlainTime, isRounded, MAX_SIGNIFICANT_DIGITS } from './plain-texts.ts'

/**
 * The kinds of values seen in a column, as a bit set. The column's type is derived from all rows together,
 * and the sets of several workers are combined with `|`.
 */
export const KIND = {
  boolean: 1,
  /** An integer that a double represents exactly. */
  integer: 2,
  /** An integer beyond 2^53 that fits into 64 bits. */
  bigInteger: 4,
  number: 8,
  date: 16,
  timestamp: 32,
  text: 64,
  nested: 128,
  /** An integer beyond 64 bits with at most 38 digits. */
  wideInteger: 256,
  /** An integer with more than 38 digits, which does not fit into any database column. */
  hugeInteger: 512,
  /** Set together with one of the large integer kinds if a double cannot represent the value exactly. */
  inexact: 1024,
  /** A number in a notation of a language, such as `12,5` or `1.234,56`; see `notation.ts`. */
  writtenNumber: 2048,
  /** A date in a notation of a language, such as `31.12.2020`, perhaps with a time. */
  writtenDate: 4096,
  /** Set together with `number` if the text has more significant digits than a double keeps. */
  rounded: 8192,
  /** Set together with `date` or `timestamp` if there are slashes between year, month and day, as GDAL writes CSV. */
  slashed: 16384,
} as const

const INTEGER_COLUMN = KIND.integer | KIND.bigInteger | KIND.wideInteger | KIND.inexact
const NUMBER_COLUMN =
  KIND.integer | KIND.bigInteger | KIND.wideInteger | KIND.hugeInteger | KIND.number | KIND.rounded

export function areIntegers(kinds: number): boolean {
  return (kinds & ~INTEGER_COLUMN) === 0
}

/** Whether all values are integers, of which some are too large for any database column. */
export function areHugeIntegers(kinds: number): boolean {
  return (kinds & KIND.hugeInteger) !== 0 && (kinds & ~(INTEGER_COLUMN | KIND.hugeInteger)) === 0
}

/** Whether some values are numbers and some are texts. */
export function areMixedIds(kinds: number): boolean {
  const texts = KIND.text | KIND.date | KIND.timestamp | KIND.slashed
  return (kinds & texts) !== 0 && (kinds & ~texts) !== 0
}

/** Whether all values are dates. */
export function areDates(kinds: number): boolean {
  return (kinds & KIND.date) !== 0 && (kinds & ~(KIND.date | KIND.slashed)) === 0
}

/** Whether all values are timestamps. */
export function areTimestamps(kinds: number): boolean {
  return (kinds & KIND.timestamp) !== 0 && (kinds & ~(KIND.timestamp | KIND.slashed)) === 0
}

/** Whether some values are dates and all others are timestamps. */
export function areDatesAndTimes(kinds: number): boolean {
  return (kinds & ~KIND.slashed) === (KIND.date | KIND.timestamp)
}

/** Whether all values are strings, whatever they say. */
export function areStrings(kinds: number): boolean {
  return (kinds & ~(KIND.text | KIND.date | KIND.timestamp | KIND.slashed)) === 0
}

/** Whether all values are numbers that a double represents exactly, including large integers. */
export function areNumbers(kinds: number): boolean {
  return (kinds & ~NUMBER_COLUMN) === 0
}

const DATE = /^(\d{4})[-/](\d{2})[-/](\d{2})$/
const TIMESTAMP =
  /^(\d{4})[-/](\d{2})[-/](\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-](\d{2})(?::?(\d{2}))?)?$/
const INTEGER = /^(?:0|-?[1-9]\d*)$/
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
/** Digits in groups of three, or with a decimal comma. */
const WRITTEN_NUMBER =
  /^-?(?:[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+|[1-9]\d{0,2}(?:['’]\d{3})+|0|[1-9]\d*)(?:[.,]\d+)?$/
const WRITTEN_DATE =
  /^(?:\d{1,2}([./-])\d{1,2}\1\d{4}|\d{4}([./])\d{1,2}\2\d{1,2})(?: \d{1,2}:\d{2}(?::\d{2})?)?$/
const MAX_WRITTEN_LENGTH = 22
const MINUTES_PER_DAY = 24 * 60
const HYPHEN = 45
const SLASH = 47
const BOOLEAN = /^(?:true|false)$/i

/** The most digits of a database column. */
export const MAX_INTEGER_DIGITS = 38
const MAX_DOUBLE_DIGITS = 309

/** The kind of a value that has a JSON type. Null and undefined have no kind (0). */
export function kindOfValue(value: Value | undefined): number {
  switch (typeof value) {
    case 'string':
      return kindOfTime(value)
    case 'number':
      return Number.isSafeInteger(value) ? KIND.integer : Number.isFinite(value) ? KIND.number : 0
    case 'boolean':
      return KIND.boolean
    case 'bigint':
      return kindOfBigint(value)
    case 'object':
      return value === null ? 0 : KIND.nested
    case 'undefined':
      return 0
  }
}

function kindOfBigint(value: bigint): number {
  if (value <= 9007199254740991n && value >= -9007199254740991n) return KIND.integer
  const asDouble = Number(value)
  const inexact = Number.isFinite(asDouble) && BigInt(asDouble) === value ? 0 : KIND.inexact
  if (BigInt.asIntN(64, value) === value) return KIND.bigInteger | inexact
  const digits = value.toString().length - (value < 0n ? 1 : 0)
  return (digits > MAX_INTEGER_DIGITS ? KIND.hugeInteger : KIND.wideInteger) | inexact
}

/** The kind of a string in a source whose values are all strings. An empty string has no kind (0). */
export function kindOfText(text: string): number {
  if (text === '') return 0
  const first = text.charCodeAt(0)
  const mayBeNumber = (first >= 48 && first <= 57) || first === 45 || first === 46
  if (!mayBeNumber) return BOOLEAN.test(text) ? KIND.boolean : KIND.text
  if (INTEGER.test(text)) {
    const digits = text.length - (first === 45 ? 1 : 0)
    if (digits <= 15) return KIND.integer
    // No double is that large, and parsing takes time that grows with the square of the length.
    return digits > MAX_DOUBLE_DIGITS ? KIND.hugeInteger | KIND.inexact : kindOfBigint(BigInt(text))
  }
  if (NUMBER.test(text)) {
    if (!Number.isFinite(Number(text))) return KIND.text
    if (text.length <= MAX_SIGNIFICANT_DIGITS) return KIND.number
    const digits = Buffer.from(text.replace(/^-|[eE].*$/g, ''), 'latin1')
    return isRounded(digits, 0, digits.length) ? KIND.number | KIND.rounded : KIND.number
  }
  const kind = kindOfTime(text)
  if (kind !== KIND.text || text.length > MAX_WRITTEN_LENGTH) return kind
  return WRITTEN_NUMBER.test(text)
    ? KIND.writtenNumber
    : WRITTEN_DATE.test(text)
      ? KIND.writtenDate
      : KIND.text
}

function kindOfTime(text: string): number {
  // Fast path: few other strings have hyphens or slashes at these two positions, so most strings return here.
  if (text.length < 10) return KIND.text
  const separator = text.charCodeAt(4)
  if ((separator !== HYPHEN && separator !== SLASH) || text.charCodeAt(7) !== separator) return KIND.text
  const kind = kindOfSeparatedTime(text)
  return separator === SLASH && kind !== KIND.text ? kind | KIND.slashed : kind
}

function kindOfSeparatedTime(text: string): number {
  const bytes = asciiOf(text)
  if (bytes && isPlainDay(bytes, 0)) {
    if (text.length === 10) return KIND.date
    if (isPlainTime(bytes, 10, text.length)) return KIND.timestamp
  }
  const match = text.length === 10 ? DATE.exec(text) : TIMESTAMP.exec(text)
  if (match === null || !isDay(Number(match[1]), Number(match[2]), Number(match[3]))) return KIND.text
  if (text.length === 10) return KIND.date
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6] ?? 0)]
  if (hour > 23 || minute > 59 || second > 59) return KIND.text
  // A timestamp column stores microseconds; finer values stay text, so that nothing is lost.
  if (match[7] !== undefined && /[1-9]/.test(match[7].slice(6))) return KIND.text
  if (Number(match[9] ?? 0) > 15 || Number(match[10] ?? 0) > 59) return KIND.text
  return leavesYears(match) ? KIND.text : KIND.timestamp
}

/** Whether converting a time to UTC moves it out of the years 1 to 9999. */
function leavesYears([
  ,
  year,
  month,
  day,
  hour,
  minute,
  ,
  ,
  zone,
  zoneHours,
  zoneMinutes,
]: RegExpExecArray): boolean {
  const isFirstDay = year === '0001' && month === '01' && day === '01'
  const isLastDay = year === '9999' && month === '12' && day === '31'
  if (!isFirstDay && !isLastDay) return false
  const ahead = (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * (zone?.startsWith('-') ? -1 : 1)
  const minutes = Number(hour) * 60 + Number(minute) - ahead
  return isFirstDay ? minutes < 0 : minutes >= MINUTES_PER_DAY
}

/** The type that represents every value of a column without loss. */
export function columnType(kinds: number, declared: SourceColumn['type']): ColumnType {
  if (declared !== 'infer-json' && declared !== 'infer-text' && admits(declared, kinds)) return declared
  if (kinds & KIND.nested) return 'json'
  if (kinds === 0) return 'text'
  if (kinds === KIND.boolean) return 'boolean'
  if (areIntegers(kinds)) return 'integer'
  // Not if a double cannot represent an integer beyond 2^53 in the same column exactly.
  if (areNumbers(kinds) && kinds & KIND.number) return 'number'
  if (areDates(kinds)) return 'date'
  if (areTimestamps(kinds)) return 'timestamp'
  return 'text'
}

/** Whether the values seen fit the declared type; a file may contradict its own declaration. */
export function admits(declared: ColumnType, kinds: number): boolean {
  switch (declared) {
    case 'json':
      return true
    case 'text':
      return (kinds & KIND.nested) === 0
    case 'boolean':
      return (kinds & ~KIND.boolean) === 0
    case 'integer':
      return areIntegers(kinds)
    case 'number':
      return areNumbers(kinds)
    case 'date':
      return (kinds & ~(KIND.date | KIND.slashed)) === 0
    case 'timestamp':
      return (kinds & ~(KIND.timestamp | KIND.slashed)) === 0
  }
}
