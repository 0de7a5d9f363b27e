import { performRequests } from '../threads/perform-requests.ts'
import { inSharedMemory } from '../threads/shared-memory.ts'
import { type PackedColumn, unpackColumn } from './unpack-column.ts'

performRequests(
  async (packed: PackedColumn) => inSharedMemory(await unpackColumn(packed)),
  () => [],
)
