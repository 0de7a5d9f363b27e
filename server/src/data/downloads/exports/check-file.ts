import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

interface Hashing {
  hashedPath: string
}

/** Starting a thread takes longer than hashing a file of this size. */
const SMALL_BYTES = 8 << 20
/** What is hashed at once, in less than a millisecond: other requests are served before the next part. */
const STEP_BYTES = 1 << 17

/** Whether a file still has this SHA-256. Large files are hashed in a thread, because a gigabyte takes seconds. */
export async function checkFile(path: string, sha256: string): Promise<boolean> {
  const size = await stat(path).then(
    (file) => file.size,
    () => null,
  )
  if (size === null) return false
  if (size > SMALL_BYTES) return checkInThread(path, sha256)
  return hashFile(path, STEP_BYTES).then(
    (digest) => digest === sha256,
    () => false,
  )
}

async function hashFile(path: string, stepBytes: number): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(path, { highWaterMark: stepBytes })) hash.update(bytes)
  return hash.digest('hex')
}

function checkInThread(path: string, sha256: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const worker = new Worker(new URL(import.meta.url), { workerData: { hashedPath: path } satisfies Hashing })
  worker.once('message', (digest: string) => resolve(digest === sha256))
  worker.once('error', () => resolve(false))
  worker.once('exit', () => resolve(false))
  return promise
}

const path = isMainThread ? undefined : (workerData as Partial<Hashing> | null)?.hashedPath
if (path !== undefined) parentPort!.postMessage(await hashFile(path, 1 << 20))
