import type { Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { parseJson } from '../reading/parse-json.ts'
import { invalidText, strictUtf8 } from '../reading/text/invalid-text.ts'
import { ColumnType } from './flatgeobuf-tables.ts'

/** Reads a feature's values: a column's number, then its value, for each column that is not null. */
export function readFlatgeobufValues(
  bytes: Uint8Array | null,
  columns: { name: string; type: number }[],
): Value[] {
  const values: Value[] = new Array(columns.length).fill(null)
  if (bytes === null) return values
  const reader = new ValueReader(bytes)
  while (!reader.isAtEnd) {
    const place = reader.uint16()
    const column = columns[place]
    if (column === undefined)
      throw new SourceError(`the feature has a value for column ${place + 1}, which does not exist`)
    values[place] = reader.value(column)
  }
  return values
}

class ValueReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Some writers add a byte at the end, which is too short for another column's number. */
  get isAtEnd(): boolean {
    return this.#at + 2 > this.#bytes.length
  }

  uint16(): number {
    this.#at += 2
    return this.#bytes.readUInt16LE(this.#at - 2)
  }

  value({ name, type }: { name: string; type: number }): Value {
    const at = this.#at
    const bytes = this.#bytes
    switch (type) {
      case ColumnType.Bool:
        this.#at += 1
        return bytes.readUInt8(at) !== 0
      case ColumnType.Byte:
        this.#at += 1
        return bytes.readInt8(at)
      case ColumnType.UByte:
        this.#at += 1
        return bytes.readUInt8(at)
      case ColumnType.Short:
        this.#at += 2
        return bytes.readInt16LE(at)
      case ColumnType.UShort:
        this.#at += 2
        return bytes.readUInt16LE(at)
      case ColumnType.Int:
        this.#at += 4
        return bytes.readInt32LE(at)
      case ColumnType.UInt:
        this.#at += 4
        return bytes.readUInt32LE(at)
      case ColumnType.Long:
        this.#at += 8
        return exact(bytes.readBigInt64LE(at))
      case ColumnType.ULong:
        this.#at += 8
        return exact(bytes.readBigUInt64LE(at))
      case ColumnType.Float:
        this.#at += 4
        return bytes.readFloatLE(at)
      case ColumnType.Double:
        this.#at += 8
        return bytes.readDoubleLE(at)
      case ColumnType.String:
      case ColumnType.DateTime:
        return this.#text(name)
      case ColumnType.Json:
        return json(this.#text(name))
      case ColumnType.Binary:
        return this.#sized().toString('base64')
      default:
        throw new SourceError(`the feature has a value of the unknown type ${type}`)
    }
  }

  #text(column: string): string {
    const text = strictUtf8(this.#sized())
    if (text === null) throw new SourceError(invalidText(column))
    return text
  }

  #sized(): Buffer {
    const start = this.#at + 4
    const end = start + this.#bytes.readUInt32LE(this.#at)
    if (end > this.#bytes.length) throw new SourceError('the feature ends inside a text')
    this.#at = end
    return this.#bytes.subarray(start, end)
  }
}

function exact(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

function json(text: string): Value {
  try {
    return parseJson(text)
  } catch {
    return text
  }
}
