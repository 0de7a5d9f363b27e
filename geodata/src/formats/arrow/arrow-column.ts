import { type DataType, type Field, type TimeUnit, Type, type Vector } from 'apache-arrow'
import { dateText, nanosecondText, timestampText } from '../../calendar.ts'
import type { ColumnType, SourceColumn, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { EXACT_DIGITS, wideDecimalsNote } from '../reading/exact-decimals.ts'
import { isText, textBytes } from './arrow-texts.ts'

/** A column of an Arrow file, by its position, and the conversion of its values. */
export interface ArrowColumn extends SourceColumn {
  index: number
  note?: string
  read(vector: Vector | null, row: number): Value
}

export function arrowColumn({ name, type }: Field, index: number): ArrowColumn {
  const { type: columnType, convert, wideDigits } = conversion(type)
  const note = wideDigits === undefined ? {} : { note: wideDecimalsNote(name, wideDigits) }
  return { name, index, type: columnType, read: readerOf(type, convert), ...note }
}

function readerOf(type: DataType, convert: Conversion['convert']): ArrowColumn['read'] {
  if (type.typeId === Type.Timestamp)
    return (vector, row) => exactTimeText(vector, row, (type as unknown as Timed).unit)
  if (type.typeId === Type.Date) return exactDateText
  if (isText(type.typeId)) return exactText
  return (vector, row) => convert(vector?.get(row) ?? null)
}

/** The library removes a byte order mark at the start of a text. */
function exactText(vector: Vector | null, row: number): string | null {
  const text = (vector?.get(row) ?? null) as string | null
  if (text === null) return null
  const [first, second, third] = textBytes(vector!.data[0]!, row)
  return first === 0xef && second === 0xbb && third === 0xbf ? `\ufeff${text}` : text
}

/** A type of times, and the unit of its integers. */
interface Timed {
  unit: TimeUnit
}

interface Conversion {
  type: ColumnType
  convert(value: unknown): Value
  /** The number of digits of decimals that are texts, because a number does not hold as many. */
  wideDigits?: number
}

function conversion(type: DataType): Conversion {
  switch (type.typeId) {
    case Type.Dictionary:
      return conversion((type as unknown as { dictionary: DataType }).dictionary)
    case Type.Bool:
      return { type: 'boolean', convert: (value) => value as Value }
    case Type.Int:
      return { type: 'integer', convert: integer }
    case Type.Float:
      return { type: 'number', convert: (value) => value as Value }
    case Type.Decimal:
      return decimalConversion(type as unknown as Decimals)
    case Type.Date:
      return { type: 'date', convert: (value) => (value === null ? null : dayText(value as number)) }
    case Type.Timestamp:
      return { type: 'timestamp', convert: timeText }
    case Type.Time:
      return { type: 'text', convert: (value) => clockText(value, (type as unknown as Timed).unit) }
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return {
        type: 'text',
        convert: (value) => (value ? Buffer.from(value as Uint8Array).toString('base64') : null),
      }
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return { type: 'text', convert: (value) => value as Value }
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
    case Type.Struct:
    case Type.Map:
      return { type: 'json', convert: (value) => nested(value, type) }
    default:
      return { type: 'text', convert: (value) => (value === null ? null : String(value)) }
  }
}

function integer(value: unknown): Value {
  if (typeof value !== 'bigint') return value as Value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** The digits of a second that a time unit has: seconds, milliseconds, microseconds, nanoseconds. */
const UNIT_DIGITS = [0, 3, 6, 9] as const
const DAY_MS = 86_400_000

/** The library returns milliseconds as a double, which is not exact far from 1970 nor for nanoseconds. */
function exactTimeText(vector: Vector | null, row: number, unit: TimeUnit): string | null {
  if (!vector?.isValid(row)) return null
  const value = (vector.data[0]!.values as BigInt64Array)[row]!
  const nanoseconds = value * 10n ** BigInt(9 - UNIT_DIGITS[unit])
  // A column of times has microseconds; with finer values it stays text, so that nothing is lost.
  return nanosecondText(nanoseconds)
}

/** Days are integers of 32 bits, milliseconds of 64, which the library refuses far from 1970. */
function exactDateText(vector: Vector | null, row: number): string | null {
  if (!vector?.isValid(row)) return null
  const value = (vector.data[0]!.values as Int32Array | BigInt64Array)[row]!
  return typeof value === 'number' ? dateText(value) : dayText(Number(value))
}

function dayText(milliseconds: number): string {
  return dateText(Math.floor(milliseconds / DAY_MS))
}

/** Milliseconds since 1970, with microseconds as their fraction. */
function timeText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  const milliseconds = Number(value)
  const whole = Math.floor(milliseconds)
  const microseconds = BigInt(whole) * 1000n + BigInt(Math.round((milliseconds - whole) * 1000))
  return timestampText(microseconds)
}

/** A time of day, counted from midnight. */
function clockText(value: unknown, unit: TimeUnit): string | null {
  if (value === null || value === undefined) return null
  const digits = UNIT_DIGITS[unit]
  const count = BigInt(value as number | bigint)
  const second = 10n ** BigInt(digits)
  const seconds = Number(count / second)
  const fraction = String(count % second)
    .padStart(digits, '0')
    .replace(/0+$/, '')
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const text = parts.map((part) => String(part).padStart(2, '0')).join(':')
  return fraction === '' ? text : `${text}.${fraction}`
}

/** A type of decimals: how many digits they have, and how many of these are decimal places. */
interface Decimals {
  precision: number
  scale: number
}

/** More than any decimals have. Their texts are as long as the schema says, whatever the values are. */
const MAX_SCALE = 1000

/** As those of Parquet: integers, numbers if these hold all digits, and texts otherwise. */
function decimalConversion({ precision, scale }: Decimals): Conversion {
  if (Math.abs(scale) > MAX_SCALE) throw new SourceError(`Decimals with a scale of ${scale} cannot be read.`)
  if (scale <= 0)
    return {
      type: 'integer',
      convert: (value) => (value === null ? null : integer(unscaled(value) * 10n ** BigInt(-scale))),
    }
  const text = (value: unknown) => (value === null ? null : decimalText(unscaled(value), scale))
  if (precision > EXACT_DIGITS) return { type: 'text', convert: text, wideDigits: precision }
  return { type: 'number', convert: (value) => (value === null ? null : Number(text(value))) }
}

/** Decimals are integers of 128 or 256 bits in words of 32, lowest first. */
function unscaled(value: unknown): bigint {
  const words = value as Uint32Array
  let integerValue = 0n
  for (let i = words.length - 1; i >= 0; i--) integerValue = (integerValue << 32n) | BigInt(words[i]!)
  return BigInt.asIntN(words.length * 32, integerValue)
}

function decimalText(value: bigint, scale: number): string {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const LIST_TYPES = [Type.List, Type.LargeList, Type.FixedSizeList]

/** A list, struct or map: each of its values is converted by its own type. */
function nested(value: unknown, type: DataType): Value {
  if (value === null || value === undefined) return null
  const children = type.children as readonly Field[]
  if (LIST_TYPES.includes(type.typeId)) {
    const { convert } = conversion(children[0]!.type)
    return [...(value as Iterable<unknown>)].map((item) => convert(item ?? null))
  }
  const plain = (value as { toJSON(): { [name: string]: unknown } }).toJSON()
  const typeOf = (name: string) =>
    type.typeId === Type.Map
      ? (children[0]!.type.children as readonly Field[])[1]!.type
      : children.find((child) => child.name === name)!.type
  return Object.fromEntries(
    Object.entries(plain).map(([name, item]) => [name, conversion(typeOf(name)).convert(item ?? null)]),
  )
}
