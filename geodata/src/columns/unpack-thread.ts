import { parentPort } from 'node:worker_threads'
import { failureOf, type ThreadFailure } from '../snapshot/thread-failure.ts'
import type { Codes, ColumnParts } from './compiled-column.ts'
import { orderOf, type PackedColumn, unpackColumn } from './unpack-column.ts'

/** A column to unpack, or one whose order is needed; `codes` is in shared memory. */
export type UnpackTask = { packed: PackedColumn; maxListed: number } | { codes: Codes; starts: Uint32Array }

export type UnpackRequest = { number: number } & UnpackTask

export type UnpackReply = { number: number } & (
  | { parts: ColumnParts }
  | { order: Uint32Array }
  | { failure: ThreadFailure }
)

function send(reply: UnpackReply): void {
  parentPort!.postMessage(
    reply,
    'parts' in reply ? buffersOf(reply.parts) : 'order' in reply ? buffersOf({ order: reply.order }) : [],
  )
}

/** The memory that moves to the other thread instead of being copied. Shared memory stays where it is. */
function buffersOf(parts: object): ArrayBuffer[] {
  const arrays = Object.values(parts).filter((part) => ArrayBuffer.isView(part))
  return arrays.map(({ buffer }) => buffer).filter((buffer) => buffer instanceof ArrayBuffer)
}

async function perform(request: UnpackRequest): Promise<UnpackReply> {
  const { number } = request
  if ('codes' in request) return { number, order: orderOf(request.codes, request.starts) }
  return { number, parts: await unpackColumn(request.packed, request.maxListed) }
}

/** One column at a time, so that memory is needed for one only. */
let queue: Promise<void> = Promise.resolve()
parentPort!.on('message', (request: UnpackRequest) => {
  queue = queue
    .then(() => perform(request))
    .then(send, (error) => send({ number: request.number, failure: failureOf(error) }))
})
