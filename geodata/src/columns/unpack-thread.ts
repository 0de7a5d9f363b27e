import { parentPort } from 'node:worker_threads'
import { inSharedMemory } from '../shared-loads.ts'
import { failureOf, type ThreadFailure } from '../snapshot/thread-failure.ts'
import type { ColumnParts } from './compiled-column.ts'
import { type PackedColumn, unpackColumn } from './unpack-column.ts'

export interface UnpackRequest {
  number: number
  packed: PackedColumn
  /** Whether the arrays are to be in memory that threads can share. */
  isShared: boolean
}

export type UnpackReply = { number: number } & ({ parts: ColumnParts } | { failure: ThreadFailure })

function send(reply: UnpackReply): void {
  parentPort!.postMessage(reply, 'parts' in reply ? buffersOf(reply.parts) : [])
}

/** The memory that moves to the other thread instead of being copied. */
function buffersOf(parts: ColumnParts): ArrayBuffer[] {
  const arrays = Object.values(parts).filter((part) => ArrayBuffer.isView(part))
  return arrays.map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer)
}

/** One column at a time, so that memory is needed for one only. */
let queue: Promise<void> = Promise.resolve()
parentPort!.on('message', ({ number, packed, isShared }: UnpackRequest) => {
  queue = queue
    .then(() => unpackColumn(packed))
    .then(
      (parts) => send({ number, parts: isShared ? inSharedMemory(parts) : parts }),
      (error) => send({ number, failure: failureOf(error) }),
    )
})
