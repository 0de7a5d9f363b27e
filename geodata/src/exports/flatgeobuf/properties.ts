import { copyBytes } from '../../bytes/copy-bytes.ts'
import type { Column } from '../../feature.ts'
import { type PropertySlices, stringValue } from '../../pack/property-slices.ts'
import type { Room } from '../encoding/growing-room.ts'
import { parseNumber } from '../geometry/geometry-bytes.ts'
import type { IntegerSize } from '../integer-ranges.ts'

const BOOL = 2
const INT = 5
const LONG = 7
const DOUBLE = 10
const STRING = 11
const JSON_TEXT = 12
const DATE_TIME = 13
const QUOTE = 0x22
const TRUE = 0x74

/** FlatGeobuf's code for the type of a column. It has no date type; GDAL writes dates as DateTime too. */
export function columnCode({ type }: Column, size: IntegerSize | null): number {
  switch (type) {
    case 'boolean':
      return BOOL
    case 'integer':
      return size === 'larger' ? STRING : size === 'int32' ? INT : LONG
    case 'number':
      return DOUBLE
    case 'json':
      return JSON_TEXT
    case 'date':
    case 'timestamp':
      return DATE_TIME
    case 'text':
      return STRING
  }
}

/** Writes the values of one feature: the column's number, then the value; nulls are left out. */
export function putProperties(
  sink: Room,
  at: number,
  bytes: Buffer,
  values: PropertySlices,
  codes: readonly number[],
): number {
  const { buffer, view } = sink
  for (let c = 0; c < codes.length; c++) {
    if (values.isNull(bytes, c)) continue
    const start = values.starts[c]!
    const end = values.ends[c]!
    view.setUint16(at, c, true)
    at += 2
    switch (codes[c]) {
      case BOOL:
        buffer[at++] = bytes[start] === TRUE ? 1 : 0
        break
      case INT:
        view.setInt32(at, parseNumber(bytes, start, end), true)
        at += 4
        break
      case LONG:
        view.setBigInt64(at, BigInt(bytes.toString('latin1', start, end)), true)
        at += 8
        break
      case DOUBLE:
        view.setFloat64(at, parseNumber(bytes, start, end), true)
        at += 8
        break
      default: {
        const length = at
        at += 4
        if (codes[c] === JSON_TEXT || bytes[start] !== QUOTE) at = copyBytes(bytes, start, end, buffer, at)
        else if (values.escaped[c]) at += buffer.write(stringValue(bytes, start, end), at)
        else at = copyBytes(bytes, start + 1, end - 1, buffer, at)
        view.setUint32(length, at - length - 4, true)
      }
    }
  }
  return at
}
