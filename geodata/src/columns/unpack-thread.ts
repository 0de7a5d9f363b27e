import { performRequests } from '../threads/perform-requests.ts'
import type { ColumnParts } from './compiled-column.ts'
import { unpackColumn } from './unpack-column.ts'

/** The memory that moves to the other thread instead of being copied. */
function buffersOf(parts: ColumnParts): ArrayBuffer[] {
  const arrays = Object.values(parts).filter((part) => ArrayBuffer.isView(part))
  return arrays.map(({ buffer }) => buffer as ArrayBuffer)
}

performRequests(unpackColumn, buffersOf)
