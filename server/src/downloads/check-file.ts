import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/** Whether a file still has its checksum: read in a thread, for hashing a gigabyte takes a second. */
export function checkFile(path: string, sha256: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const worker = new Worker(new URL(import.meta.url), { workerData: { checksumOf: path } })
  worker.once('message', (found: string) => resolve(found === sha256))
  worker.once('error', () => resolve(false))
  worker.once('exit', () => resolve(false))
  return promise
}

if (!isMainThread && typeof workerData?.checksumOf === 'string') {
  const hash = createHash('sha256')
  await pipeline(createReadStream(workerData.checksumOf, { highWaterMark: 1 << 20 }), hash)
  parentPort!.postMessage(hash.digest('hex'))
}
