import { createHash } from 'node:crypto'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Manifest, SNAPSHOT_FILES } from './manifest.ts'
import { errorOf, failureOf, type ThreadFailure } from './thread-failure.ts'
import { verifyFile, verifyFilesFast } from './verify.ts'

export interface ThreadRequest {
  folder: string
  manifest: Manifest
  /** Compare these files with their block checksums; null compares all files with their SHA-256. */
  fast: readonly string[] | null
  /** The max read rate when all files are verified. */
  bytesPerSecond?: number
  /** Bytes before and after the pack, for a SHA-256 over head, pack and tail: see `VerifiedSnapshot`. */
  packHead?: Uint8Array
  packTail?: Uint8Array
}

export interface VerifiedSnapshot {
  /** The SHA-256 of head, pack and tail in base64, computed from the same bytes that were verified. */
  framedPackDigest: string | null
}

type ThreadMessage = { verified: VerifiedSnapshot } | ThreadFailure

/**
 * Verifies files in a worker thread, because hashing a gigabyte takes seconds. Throws a DamagedSnapshotError
 * that names the file; aborting terminates the thread.
 */
export async function verifyInThread(request: ThreadRequest, signal: AbortSignal): Promise<VerifiedSnapshot> {
  signal.throwIfAborted()
  const worker = new Worker(new URL(import.meta.url), { workerData: { verifyInThread: request } })
  const abort = () => worker.terminate()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const message = await new Promise<ThreadMessage>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
      worker.once('exit', (code) => reject(new Error(`the verifying thread ended with code ${code}`)))
    })
    if ('verified' in message) return message.verified
    throw errorOf(message)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function run({ folder, manifest, fast, ...options }: ThreadRequest): Promise<VerifiedSnapshot> {
  if (fast) {
    await verifyFilesFast(folder, manifest, fast)
    return { framedPackDigest: null }
  }
  const { bytesPerSecond, packHead, packTail } = options
  const framed = packHead && packTail ? createHash('sha256').update(packHead) : null
  for (const name of Object.keys(manifest.files)) {
    const onBytes =
      framed && name === SNAPSHOT_FILES.pack ? (bytes: Buffer) => void framed.update(bytes) : undefined
    await verifyFile(folder, manifest, name, { bytesPerSecond, onBytes })
  }
  return { framedPackDigest: framed?.update(packTail!).digest('base64') ?? null }
}

const request = isMainThread
  ? undefined
  : (workerData as { verifyInThread?: ThreadRequest } | null)?.verifyInThread
if (request) {
  const message = await run(request).then((verified): ThreadMessage => ({ verified }), failureOf)
  parentPort!.postMessage(message)
}
