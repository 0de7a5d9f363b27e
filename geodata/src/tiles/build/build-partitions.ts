import { availableParallelism } from 'node:os'
import { machineMemory } from '../../machine-memory.ts'
import { buildPartition } from './build-partition.ts'
import type { PartitionStore } from './partition-store.ts'
import { PartitionThread, type ReplyToAsk } from './partition-threads.ts'
import { type TilePlan, workOf } from './tile-plan.ts'
import { openTileSource, type TileSourceOptions } from './tile-source.ts'

const MAX_THREADS = 16
/** Each thread takes about 100 MB; all of them at most half of the memory. */
const THREAD_BYTES = 128 << 20

/** As many threads as the machine or its container has cores, and memory for. */
export function tileThreads(
  cores: number = availableParallelism(),
  memory: number = machineMemory(),
): number {
  return Math.max(1, Math.min(MAX_THREADS, cores, Math.floor(memory / 2 / THREAD_BYTES)))
}

export interface PartitionsOptions {
  /** How many partitions are built at the same time. */
  threads?: number | undefined
  signal?: AbortSignal | undefined
  /** Called with the share that is done, from 0 to 1. */
  onProgress?: ((share: number) => void) | undefined
}

/** What is built, and from what. */
interface PartitionsWork {
  plan: TilePlan
  /** The numbers of the partitions. */
  numbers: readonly number[]
  store: PartitionStore
  source: TileSourceOptions
  /** For a source without a folder. */
  reply?: ReplyToAsk | undefined
}

/**
 * Builds those partitions that are not finished, each in one thread. A single one is built in this thread: it
 * compresses in the threads of libuv.
 */
export async function buildPartitions(work: PartitionsWork, options: PartitionsOptions): Promise<void> {
  const { numbers, store, source } = work
  const missing = numbers.filter((number) => !store.isFinished(number))
  if (missing.length === 0) return
  const threads = Math.min(options.threads ?? tileThreads(), missing.length)
  const progress = new Progress(work, missing, options.onProgress)
  if (threads > 1 || source.folder === null)
    await buildInThreads(work, options, { missing, threads, progress })
  else await buildHere(work, options, missing, progress)
}

async function buildHere(
  { plan, store, source: sourceOptions }: PartitionsWork,
  { signal }: PartitionsOptions,
  missing: readonly number[],
  progress: Progress,
): Promise<void> {
  const source = openTileSource(sourceOptions)
  try {
    for (const number of missing) {
      signal?.throwIfAborted()
      const order = { partition: plan.partitions[number]!, zooms: plan.zooms, path: store.pathOf(number) }
      await buildPartition(source, order, { signal, onProgress: (share) => progress.show(number, share) })
      progress.finish(number)
    }
  } finally {
    source.close()
  }
}

async function buildInThreads(
  { plan, store, source, reply }: PartitionsWork,
  { signal }: PartitionsOptions,
  { missing, threads, progress }: { missing: readonly number[]; threads: number; progress: Progress },
): Promise<void> {
  const waiting = missing.values()
  let hasFailed = false
  const work = async () => {
    const thread = new PartitionThread(source, reply)
    // The threads share the iterator: each takes the next partition when it has finished one.
    for (const number of waiting) {
      if (hasFailed) return
      signal?.throwIfAborted()
      await thread.build({
        partition: plan.partitions[number]!,
        zooms: plan.zooms,
        path: store.pathOf(number),
      })
      progress.finish(number)
    }
  }
  const failing = async () => {
    try {
      await work()
    } catch (error) {
      hasFailed = true
      throw error
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: threads }, failing))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

/** The share of all partitions that is done. */
class Progress {
  readonly #plan: TilePlan
  readonly #total: number
  readonly #onProgress: ((share: number) => void) | undefined
  #done: number

  constructor(
    { plan, numbers }: PartitionsWork,
    missing: readonly number[],
    onProgress?: (share: number) => void,
  ) {
    this.#plan = plan
    this.#total = numbers.reduce((sum, number) => sum + workOf(plan, number), 0)
    this.#onProgress = onProgress
    this.#done = this.#total
    for (const number of missing) this.#done -= workOf(plan, number)
    if (this.#done > 0) this.show(0, 0)
  }

  /** A partition is done to a share. */
  show(number: number, share: number): void {
    this.#onProgress?.((this.#done + workOf(this.#plan, number) * share) / this.#total)
  }

  finish(number: number): void {
    this.#done += workOf(this.#plan, number)
    this.show(number, 0)
  }
}
