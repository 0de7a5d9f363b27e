import { stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { PACK_FILE } from '../pack/pack.ts'
import { readPack, requireFeatures } from '../pack/pack-reader.ts'
import { RequestThread } from '../threads/request-thread.ts'
import { createEncoder } from './create-encoder.ts'
import type { RangeRequest } from './encode-thread.ts'
import type { EncodeWork } from './encoding/encode-work.ts'
import type { EncodedFeatures } from './encoding/feature-batch.ts'

const RANGE_BYTES = 2 << 20
/** The threads take as long to start, and to compile their code, as it takes to encode about half of this. */
const MIN_PARALLEL_BYTES = 128 << 20
/** Writing and hashing what they encode takes the time of a third thread. */
const MAX_THREADS = 2
/** Ranges under way for each thread: one that it encodes, and one that waits. */
const RANGES_PER_THREAD = 2
const IDLE_MS = 1000

interface EncodeOptions {
  threads?: number | undefined
  signal?: AbortSignal | undefined
  /** Tests pass smaller numbers. */
  minParallelBytes?: number
  rangeBytes?: number
  /** When a thread without work ends, in ms. */
  idleMs?: number
}

/**
 * Encodes all features of the pack, in its order. Large packs are encoded by several threads, a range of bytes at a
 * time; the result does not depend on it. A batch is valid until the next one is requested.
 */
export async function* encodePack(
  work: EncodeWork,
  {
    threads = Math.min(MAX_THREADS, availableParallelism()),
    signal,
    minParallelBytes = MIN_PARALLEL_BYTES,
    rangeBytes = RANGE_BYTES,
    idleMs = IDLE_MS,
  }: EncodeOptions,
): AsyncGenerator<EncodedFeatures> {
  const { size } = await stat(join(work.folder, PACK_FILE))
  if (threads > 1 && size >= minParallelBytes) {
    yield* encodeInThreads(work, size, { threads, rangeBytes, idleMs, signal })
    return
  }
  const encoder = await createEncoder(work)
  for await (const block of readPack(work.folder, work.manifest, signal)) yield encoder.encode(block)
}

async function* encodeInThreads(
  work: EncodeWork,
  size: number,
  {
    threads: threadCount,
    rangeBytes,
    idleMs,
    signal,
  }: { threads: number; rangeBytes: number; idleMs: number; signal: AbortSignal | undefined },
): AsyncGenerator<EncodedFeatures> {
  const entry = new URL('./encode-thread.ts', import.meta.url)
  const threads = Array.from(
    { length: threadCount },
    () => new RequestThread<RangeRequest, EncodedFeatures>(entry, idleMs),
  )
  const ranges = Math.ceil(size / rangeBytes)
  const pending: Promise<EncodedFeatures>[] = []
  let featureCount = 0
  const ask = (range: number) => {
    const start = range * rangeBytes
    const thread = threads[range % threadCount]!
    // A thread has ended if nobody took batches for a while, and the next one knows nothing.
    const request = { work: thread.isRunning ? null : work, start, end: Math.min(size, start + rangeBytes) }
    const encoding = thread.perform(request, [])
    // If an earlier range fails, nothing waits for this one.
    encoding.catch(() => {})
    pending.push(encoding)
  }
  for (let range = 0; range < ranges; range++) {
    signal?.throwIfAborted()
    while (pending.length < threadCount * RANGES_PER_THREAD && range + pending.length < ranges)
      ask(range + pending.length)
    const { bytes, ...encoded } = await pending.shift()!
    featureCount += encoded.count
    // A message turns a Buffer into a Uint8Array.
    yield { ...encoded, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) }
  }
  requireFeatures(featureCount, work.manifest)
}
