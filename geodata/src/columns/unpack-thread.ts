import { inSharedMemory } from '../bytes/shared-memory.ts'
import { performRequests } from '../threads/perform-requests.ts'
import type { Codes, ColumnParts } from './compiled-column.ts'
import {
  orderOf,
  type PackedColumn,
  type PackedLists,
  type PackedSegment,
  unpackColumn,
  unpackLists,
  unpackSegment,
} from './unpack-column.ts'

/**
 * A column to unpack, a segment of one, or its posting lists, or one whose order is needed; `codes` and the tables of a
 * segment are in shared memory.
 */
export type UnpackRequest =
  | { packed: PackedColumn; maxListed: number }
  | { segment: PackedSegment }
  | { lists: PackedLists }
  | { codes: Codes; starts: Uint32Array }

export type UnpackValue = ColumnParts | { order: Uint32Array } | null

performRequests(perform, () => [])

async function perform(request: UnpackRequest): Promise<UnpackValue> {
  if ('codes' in request) return inSharedMemory({ order: orderOf(request.codes, request.starts) })
  if ('segment' in request) {
    await unpackSegment(request.segment)
    return null
  }
  if ('lists' in request) return inSharedMemory(await unpackLists(request.lists))
  return inSharedMemory(await unpackColumn(request.packed, request.maxListed))
}
