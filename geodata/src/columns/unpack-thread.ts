import { parentPort } from 'node:worker_threads'
import { failureOf, type ThreadFailure } from '../snapshot/thread-failure.ts'
import type { ColumnParts } from './compiled-column.ts'
import { type PackedColumn, unpackColumn } from './unpack-column.ts'

export interface UnpackRequest {
  number: number
  packed: PackedColumn
}

export type UnpackReply = { number: number } & ({ parts: ColumnParts } | { failure: ThreadFailure })

function send(reply: UnpackReply): void {
  parentPort!.postMessage(reply, 'parts' in reply ? buffersOf(reply.parts) : [])
}

/** The memory that moves to the other thread instead of being copied. */
function buffersOf(parts: ColumnParts): ArrayBuffer[] {
  const arrays = Object.values(parts).filter((part) => ArrayBuffer.isView(part))
  return arrays.map(({ buffer }) => buffer as ArrayBuffer)
}

/** One column at a time, so that memory is needed for one only. */
let queue: Promise<void> = Promise.resolve()
parentPort!.on('message', ({ number, packed }: UnpackRequest) => {
  queue = queue
    .then(() => unpackColumn(packed))
    .then(
      (parts) => send({ number, parts }),
      (error) => send({ number, failure: failureOf(error) }),
    )
})
