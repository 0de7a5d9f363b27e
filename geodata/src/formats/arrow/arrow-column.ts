import { type DataType, type Field, Type } from 'apache-arrow'
import type { ColumnType, SourceColumn, Value } from '../../feature.ts'

/** A column of an Arrow file, by its position, and the conversion of its values. */
export interface ArrowColumn extends SourceColumn {
  index: number
  convert(value: unknown): Value
}

export function arrowColumn({ name, type }: Field, index: number): ArrowColumn {
  return { name, index, ...conversion(type) }
}

interface Conversion {
  type: ColumnType
  convert(value: unknown): Value
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
      return {
        type: 'text',
        convert: (value) => decimalText(value, (type as unknown as { scale: number }).scale),
      }
    case Type.Date:
      return { type: 'date', convert: (value) => timeText(value)?.slice(0, 10) ?? null }
    case Type.Timestamp:
      return { type: 'timestamp', convert: timeText }
    case Type.Binary:
    case Type.LargeBinary:
    case Type.FixedSizeBinary:
      return {
        type: 'text',
        convert: (value) => (value ? Buffer.from(value as Uint8Array).toString('base64') : null),
      }
    case Type.Utf8:
    case Type.LargeUtf8:
      return { type: 'text', convert: (value) => value as Value }
    case Type.List:
    case Type.FixedSizeList:
    case Type.Struct:
    case Type.Map:
      return { type: 'json', convert: nested }
    default:
      return { type: 'text', convert: (value) => (value === null ? null : String(value)) }
  }
}

function integer(value: unknown): Value {
  if (typeof value !== 'bigint') return value as Value
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Milliseconds since 1970, with microseconds as their fraction. */
function timeText(value: unknown): string | null {
  if (value === null) return null
  const milliseconds = Number(value)
  const whole = Math.floor(milliseconds)
  const date = new Date(whole)
  if (Number.isNaN(date.getTime())) return null
  const micros = Math.round((milliseconds - whole) * 1000)
  const text = date.toISOString()
  return micros === 0 ? text : `${text.slice(0, -1)}${String(micros).padStart(3, '0')}Z`
}

/** Decimals are integers of 128 or 256 bits in words of 32, lowest first. */
function decimalText(value: unknown, scale: number): Value {
  if (value === null) return null
  const words = value as Uint32Array
  let integerValue = 0n
  for (let i = words.length - 1; i >= 0; i--) integerValue = (integerValue << 32n) | BigInt(words[i]!)
  const signed = BigInt.asIntN(words.length * 32, integerValue)
  const digits = (signed < 0n ? -signed : signed).toString().padStart(scale + 1, '0')
  const sign = signed < 0n ? '-' : ''
  return scale <= 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function nested(value: unknown): Value {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return integer(value)
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object') return value as Value
  if (Symbol.iterator in value && !('toJSON' in value && isRow(value)))
    return [...(value as Iterable<unknown>)].map(nested)
  const plain = (value as { toJSON(): { [name: string]: unknown } }).toJSON()
  return Object.fromEntries(Object.entries(plain).map(([name, each]) => [name, nested(each)]))
}

/** Rows of structs and maps are iterable too, but have names. */
function isRow(value: object): boolean {
  return /^(StructRow|MapRow)$/.test(value.constructor.name) || Symbol.toStringTag in value === false
}
