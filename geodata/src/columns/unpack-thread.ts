import { inSharedMemory } from '../bytes/shared-memory.ts'
import { performRequests } from '../threads/perform-requests.ts'
import type { Codes, ColumnParts } from './compiled-column.ts'
import { orderOf, type PackedColumn, type PackedLists, unpackColumn, unpackLists } from './unpack-column.ts'

/** A column to unpack, or its posting lists, or one whose order is needed; `codes` is in shared memory. */
export type UnpackRequest =
  | { packed: PackedColumn; maxListed: number }
  | { lists: PackedLists }
  | { codes: Codes; starts: Uint32Array }

export type UnpackValue = ColumnParts | { order: Uint32Array }

performRequests(perform, () => [])

async function perform(request: UnpackRequest): Promise<UnpackValue> {
  if ('codes' in request) return inSharedMemory({ order: orderOf(request.codes, request.starts) })
  if ('lists' in request) return inSharedMemory(await unpackLists(request.lists))
  return inSharedMemory(await unpackColumn(request.packed, request.maxListed))
}
