import { parentPort } from 'node:worker_threads'
import { failureOf, type ThreadFailure } from '../snapshot/thread-failure.ts'

export interface NumberedRequest<Request> {
  number: number
  request: Request
}

export type NumberedReply<Value> = { number: number } & ({ value: Value } | { failure: ThreadFailure })

/**
 * Call it in the thread of a `RequestThread`: performs its requests one at a time, so that memory is needed for one
 * only. The memory that `movedOf` returns moves to the other thread instead of being copied.
 */
export function performRequests<Request, Value>(
  perform: (request: Request) => Value | Promise<Value>,
  movedOf: (value: Value) => ArrayBuffer[],
): void {
  const send = (reply: NumberedReply<Value>) =>
    parentPort!.postMessage(reply, 'value' in reply ? movedOf(reply.value) : [])
  let queue = Promise.resolve()
  parentPort!.on('message', ({ number, request }: NumberedRequest<Request>) => {
    queue = queue
      .then(() => perform(request))
      .then(
        (value) => send({ number, value }),
        (error) => send({ number, failure: failureOf(error) }),
      )
  })
}
