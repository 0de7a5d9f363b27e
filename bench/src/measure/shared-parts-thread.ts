/** A thread of the bench `cores`: takes a shared limit again and again, or sends log lines. */
import { parentPort, workerData } from 'node:worker_threads'
import { SharedBuckets } from '../../../server/src/base/limits/buckets.ts'
import { MemoryLimiter } from '../../../server/src/base/limits/memory-limiter.ts'
import { processMilliseconds } from '../../../server/src/base/threads/thread-place.ts'

export interface SharedPartsOrder {
  buckets: SharedArrayBuffer
  takes: number
  chunks: number
  chunkBytes: number
}

const { buckets, takes, chunks, chunkBytes } = workerData as SharedPartsOrder
const limiter = new MemoryLimiter(processMilliseconds, () => new SharedBuckets(buckets))
const rate = { requests: 1e8, burst: 1e8 }
const began = process.threadCpuUsage()
for (let i = 0; i < takes; i++) limiter.take('key', rate)
const { user, system } = process.threadCpuUsage(began)
for (let i = 0; i < chunks; i++) {
  const lines = new Uint8Array(chunkBytes)
  parentPort!.postMessage(lines, [lines.buffer])
}
parentPort!.postMessage(user + system)
await limiter.close()
