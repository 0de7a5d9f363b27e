import { isUtf8 } from 'node:buffer'
import { type Data, Type, type Vector } from 'apache-arrow'
import type { Value } from '../../feature.ts'
import { hasReplacement } from '../reading/text/invalid-text.ts'

const VIEW_BYTES = 16
/** Texts of up to this many bytes are in the view itself. */
const INLINE_BYTES = 12

export function isText(type: Type): boolean {
  return type === Type.Utf8 || type === Type.LargeUtf8 || type === Type.Utf8View
}

/** The bytes of a text, which the library decodes leniently and without a byte order mark. */
export function textBytes(data: Data, row: number): Uint8Array {
  const bytes = data.values as unknown as Uint8Array
  if (data.typeId !== Type.Utf8View)
    return bytes.subarray(Number(data.valueOffsets[row]), Number(data.valueOffsets[row + 1]))
  const start = row * VIEW_BYTES
  const view = new DataView(bytes.buffer, bytes.byteOffset + start, VIEW_BYTES)
  const size = view.getInt32(0, true)
  if (size <= INLINE_BYTES) return bytes.subarray(start + 4, start + 4 + size)
  const offset = view.getInt32(12, true)
  return data.variadicBuffers[view.getInt32(8, true)]!.subarray(offset, offset + size)
}

/**
 * Whether a value was decoded from bytes that are not UTF-8. For texts in a dictionary or inside of nested
 * values, whether there are such bytes in the column.
 */
export function isDamaged(value: Value, vector: Vector | null, row: number): boolean {
  if (vector === null || !hasReplacement(value)) return false
  const data = vector.data[0]!
  return isText(data.typeId) ? !isUtf8(textBytes(data, row)) : hasInvalidTexts(data)
}

const checked = new WeakMap<Data, boolean>()

function hasInvalidTexts(data: Data): boolean {
  let isInvalid = checked.get(data)
  if (isInvalid === undefined) {
    const parts = [...(data.dictionary?.data ?? []), ...(data.children ?? [])]
    isInvalid = isText(data.typeId) ? hasInvalidText(data) : parts.some(hasInvalidTexts)
    checked.set(data, isInvalid)
  }
  return isInvalid
}

function hasInvalidText(data: Data): boolean {
  for (let row = 0; row < data.length; row++)
    if (data.getValid(row) && !isUtf8(textBytes(data, row))) return true
  return false
}
