import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

interface Hashing {
  hashed: { path: string; head: Uint8Array; tail: Uint8Array }
}

/** The SHA-256 of a file with bytes before and after it: in a thread, for a gigabyte takes a second. */
export function hashFile(
  path: string,
  head: Uint8Array = new Uint8Array(),
  tail: Uint8Array = new Uint8Array(),
): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>()
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { hashed: { path, head, tail } } satisfies Hashing,
  })
  worker.once('message', (digest: Uint8Array) => resolve(Buffer.from(digest)))
  worker.once('error', () => resolve(null))
  worker.once('exit', () => resolve(null))
  return promise
}

/** Whether a file still has its checksum. */
export async function checkFile(path: string, sha256: string): Promise<boolean> {
  return (await hashFile(path))?.toString('hex') === sha256
}

const order = isMainThread ? undefined : (workerData as Partial<Hashing> | undefined)?.hashed
if (order) {
  const hash = createHash('sha256').update(order.head)
  for await (const bytes of createReadStream(order.path, { highWaterMark: 1 << 20 })) hash.update(bytes)
  parentPort!.postMessage(hash.update(order.tail).digest())
}
