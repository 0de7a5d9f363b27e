import type { Column } from '../../feature.ts'
import { type PropertySlices, stringValue } from '../../pack/property-slices.ts'
import { parseNumber } from '../geometry/geometry-bytes.ts'
import type { IntegerSize } from '../integer-ranges.ts'
import type { SqliteRecord } from './sqlite/record.ts'

const QUOTE = 0x22
const TRUE = 0x74
const POINT = 0x2e
/** Max digits of an integer that is exact in a double. */
const EXACT_DIGITS = 15

type PutValue = (record: SqliteRecord, bytes: Buffer, start: number, end: number, isEscaped: boolean) => void

/** Writes the values of a feature's columns into a record, as SQLite would store them in columns of these types. */
export class RowEncoder {
  readonly #puts: PutValue[]

  constructor(columns: readonly Column[], sizes: readonly (IntegerSize | null)[]) {
    this.#puts = columns.map((column, c) => putValueOf(column, sizes[c] ?? null))
  }

  put(record: SqliteRecord, bytes: Buffer, values: PropertySlices): void {
    const { starts, ends, escaped } = values
    for (let c = 0; c < this.#puts.length; c++) {
      if (values.isNull(bytes, c)) record.null()
      else this.#puts[c]!(record, bytes, starts[c]!, ends[c]!, escaped[c] === 1)
    }
  }
}

function putValueOf({ type }: Column, size: IntegerSize | null): PutValue {
  switch (type) {
    case 'boolean':
      return (record, bytes, start) => record.integer(bytes[start] === TRUE ? 1 : 0)
    case 'integer':
      if (size === 'larger') return (record, bytes, start, end) => record.text(bytes, start, end)
      if (size === 'int64') return putLong
      return (record, bytes, start, end) => record.integer(parseNumber(bytes, start, end))
    case 'number':
      return (record, bytes, start, end) => record.real(parseNumber(bytes, start, end))
    case 'json':
      return (record, bytes, start, end) => record.text(bytes, start, end)
    case 'timestamp':
      return putTime
    case 'text':
    case 'date':
      return putText
  }
}

function putLong(record: SqliteRecord, bytes: Buffer, start: number, end: number): void {
  if (end - start <= EXACT_DIGITS) record.integer(parseNumber(bytes, start, end))
  else record.bigint(BigInt(bytes.toString('latin1', start, end)))
}

function putText(record: SqliteRecord, bytes: Buffer, start: number, end: number, isEscaped: boolean): void {
  if (isEscaped) record.string(stringValue(bytes, start, end))
  else if (bytes[start] === QUOTE) record.text(bytes, start + 1, end - 1)
  else record.text(bytes, start, end)
}

const MILLISECONDS = ['.000Z', '00Z', '0Z'].map((text) => Buffer.from(text))

/** GeoPackage times have milliseconds; finer ones are kept, because all readers accept them. */
function putTime(record: SqliteRecord, bytes: Buffer, start: number, end: number): void {
  const zone = end - 2
  let p = zone - 1
  while (isDigit(bytes[p]!)) p--
  const digits = bytes[p] === POINT ? zone - 1 - p : 0
  if (digits >= 3) record.text(bytes, start + 1, end - 1)
  else record.texts(bytes, start + 1, zone, MILLISECONDS[digits]!)
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}
