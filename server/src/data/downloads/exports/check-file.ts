import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

interface Hashing {
  hashedPath: string
}

/** Whether a file still has this SHA-256. Computed in a worker thread, because a gigabyte takes seconds. */
export function checkFile(path: string, sha256: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const worker = new Worker(new URL(import.meta.url), { workerData: { hashedPath: path } satisfies Hashing })
  worker.once('message', (digest: string) => resolve(digest === sha256))
  worker.once('error', () => resolve(false))
  worker.once('exit', () => resolve(false))
  return promise
}

const path = isMainThread ? undefined : (workerData as Partial<Hashing> | null)?.hashedPath
if (path !== undefined) {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(bytes)
  parentPort!.postMessage(hash.digest('hex'))
}
