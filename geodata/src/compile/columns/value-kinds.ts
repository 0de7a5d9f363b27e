import { isDay } from '../../calendar.ts'
import type { ColumnType, SourceColumn, Value } from '../../feature.ts'

/**
 * What has been seen in a column, as a set of bits: the column's type follows from all rows together, and the
 * sets of several workers are joined by `|`.
 */
export const KIND = {
  boolean: 1,
  /** An integer that a double holds exactly. */
  integer: 2,
  /** An integer beyond 2^53 that 64 bits hold. */
  bigInteger: 4,
  number: 8,
  date: 16,
  timestamp: 32,
  text: 64,
  nested: 128,
  /** An integer beyond 64 bits, of at most 38 digits. */
  wideInteger: 256,
  /** An integer of more than 38 digits, which no database column holds. */
  hugeInteger: 512,
  /** Beside one of the large integers: a double would damage it. */
  inexact: 1024,
} as const

const INTEGER_COLUMN = KIND.integer | KIND.bigInteger | KIND.wideInteger | KIND.inexact
const NUMBER_COLUMN = KIND.integer | KIND.bigInteger | KIND.wideInteger | KIND.hugeInteger | KIND.number

export function areIntegers(kinds: number): boolean {
  return (kinds & ~INTEGER_COLUMN) === 0
}

/** Numbers that a double holds exactly, large integers among them. */
export function areNumbers(kinds: number): boolean {
  return (kinds & ~NUMBER_COLUMN) === 0
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-](\d{2})(?::?(\d{2}))?)?$/
const INTEGER = /^(?:0|-?[1-9]\d*)$/
const NUMBER = /^-?(?:(?:0|[1-9]\d*)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/
const BOOLEAN = /^(?:true|false)$/i

const MAX_INTEGER_DIGITS = 38

/** The kind of a value that carries JSON's type. Null and undefined have none (0). */
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
    default:
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

/** The kind of a string in a source whose values are all strings. An empty one says nothing. */
export function kindOfText(text: string): number {
  if (text === '') return 0
  const first = text.charCodeAt(0)
  const mayBeNumber = (first >= 48 && first <= 57) || first === 45 || first === 46
  if (!mayBeNumber) return BOOLEAN.test(text) ? KIND.boolean : KIND.text
  if (INTEGER.test(text)) {
    const digits = text.length - (first === 45 ? 1 : 0)
    return digits <= 15
      ? KIND.integer
      : digits > MAX_INTEGER_DIGITS
        ? KIND.hugeInteger
        : kindOfBigint(BigInt(text))
  }
  if (NUMBER.test(text)) return Number.isFinite(Number(text)) ? KIND.number : KIND.text
  return kindOfTime(text)
}

function kindOfTime(text: string): number {
  // The two hyphens stand where few other texts have them: most strings stop here.
  if (text.length < 10 || text.charCodeAt(4) !== 45 || text.charCodeAt(7) !== 45) return KIND.text
  if (isPlainDay(text)) {
    if (text.length === 10) return KIND.date
    if (isPlainTime(text)) return KIND.timestamp
  }
  const match = text.length === 10 ? DATE.exec(text) : TIMESTAMP.exec(text)
  if (match === null || !isDay(Number(match[1]), Number(match[2]), Number(match[3]))) return KIND.text
  if (text.length === 10) return KIND.date
  const [hour, minute, second] = [Number(match[4]), Number(match[5]), Number(match[6] ?? 0)]
  if (hour > 23 || minute > 59 || second > 59) return KIND.text
  // Microseconds are the finest that a timestamp column keeps: finer ones stay text, undamaged.
  if (match[7] !== undefined && /[1-9]/.test(match[7].slice(6))) return KIND.text
  if (Number(match[9] ?? 0) > 15 || Number(match[10] ?? 0) > 59) return KIND.text
  // A zone must not push the moment out of the years 1 to 9999.
  const year = Number(match[1])
  return year === 1 || year === 9999 ? KIND.text : KIND.timestamp
}

/** A day of any month, in a year without rules of its own. A pattern takes ten times as long; false says nothing. */
function isPlainDay(text: string): boolean {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  return year > 1 && year < 9999 && month >= 1 && month <= 12 && day >= 1 && day <= 28
}

/** A time of day to the second after a day, in UTC; false says nothing. */
function isPlainTime(text: string): boolean {
  const separator = text.charCodeAt(10)
  if (separator !== 0x54 && separator !== 0x20) return false
  if (text.charCodeAt(13) !== 0x3a || text.charCodeAt(16) !== 0x3a) return false
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)]
  if (!(hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60)) return false
  return (
    text.length === 19 ||
    (text.length === 20 && text[19] === 'Z') ||
    (text.length === 22 && text.endsWith('+00'))
  )
}

/** NaN where there are no two digits. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48
  const ones = text.charCodeAt(at + 1) - 48
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN
}

/** The type that holds every value of a column without damage. */
export function columnType(kinds: number, declared: SourceColumn['type']): ColumnType {
  if (declared !== 'infer-json' && declared !== 'infer-text' && admits(declared, kinds)) return declared
  if (kinds & KIND.nested) return 'json'
  if (kinds === 0) return 'text'
  if (kinds === KIND.boolean) return 'boolean'
  if (areIntegers(kinds)) return 'integer'
  // Not where a double would damage an integer beyond 2^53 that stands among the fractions.
  if (areNumbers(kinds) && kinds & KIND.number) return 'number'
  if (kinds === KIND.date) return 'date'
  if (kinds === KIND.timestamp) return 'timestamp'
  return 'text'
}

/** Whether what was seen fits the type that the source declares; a file may break its own promise. */
function admits(declared: ColumnType, kinds: number): boolean {
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
      return (kinds & ~KIND.date) === 0
    case 'timestamp':
      return (kinds & ~KIND.timestamp) === 0
  }
}
