import { Worker } from 'node:worker_threads'
import { limitsOf } from '../../formats/reading/source-limits.ts'
import { blockArrays, blockRows, type SourceBlock, type SourceBlocks } from '../../formats/source-blocks.ts'
import { SourceError } from '../../source-error.ts'
import type { CompileOptions, CompileProgress } from '../compile-options.ts'
import { withRowProblems } from '../invalid-source-error.ts'
import { DEFAULT_MAX_ROWS } from '../limits.ts'
import { divideMemory, needsMoreMemory, readingThreads } from '../memory.ts'
import type { ExpansionBound } from './expansion-limit.ts'
import { joinSummaries } from './join-summaries.ts'
import type { StageSummary } from './stage.ts'
import type { StageReply, StageRequest, StageWorkerData } from './stage-worker.ts'

const ENTRY = new URL('./stage-worker.ts', import.meta.url)
/** The max number of blocks queued per thread: one being processed and one next. */
const AHEAD = 2

/** Splits a source into blocks in this thread; worker threads parse, check and stage their rows. */
export async function stageInThreads(
  stream: SourceBlocks,
  crs: string | null,
  bound: ExpansionBound,
  options: CompileOptions,
  folder: string,
  onProgress: (progress: CompileProgress) => void,
  signal?: AbortSignal,
): Promise<StageSummary> {
  const { file } = bound
  const maxRowBytes = limitsOf(options.limits).rowBytes
  const maxRows = options.limits?.rows ?? DEFAULT_MAX_ROWS
  const threads = Array.from({ length: readingThreads(options) }, (_, i) => {
    const { idColumn, maxProblems, memoryMegabytes } = options
    const staging = { folder, prefix: `rows${i}`, idColumn, maxProblems, bound, maxRowBytes }
    return new StageThread({ ...staging, crs, parsing: stream.parsing }, file, memoryMegabytes)
  })
  let rows = 0
  let broken: unknown = null
  try {
    try {
      for await (const block of stream.blocks()) {
        signal?.throwIfAborted()
        rows += blockRows(block)
        if (rows > maxRows) throw new SourceError(`${file} has more than ${maxRows} rows.`)
        const free = threads.find((thread) => thread.waiting < AHEAD)
        await (free ?? (await Promise.race(threads.map((thread) => thread.free())))).give(block)
        onProgress({ phase: 'reading', rows, bytesRead: stream.bytesRead, totalBytes: stream.totalBytes })
      }
    } catch (error) {
      broken = error
    }
    const summary = joinSummaries(await finishAll(threads), options.maxProblems)
    if (broken !== null) throw withRowProblems(broken, file, summary)
    return summary
  } finally {
    await Promise.all(threads.map((thread) => thread.stop()))
  }
}

/** Waits for all even if one fails: a thread must not be terminated while its database is working. */
async function finishAll(threads: StageThread[]): Promise<StageSummary[]> {
  const ended = await Promise.allSettled(threads.map((thread) => thread.finish()))
  return ended.map((each) => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  })
}

class StageThread {
  readonly #worker: Worker
  readonly #summary = Promise.withResolvers<StageSummary>()
  #room = Promise.withResolvers<StageThread>()
  /** The number of blocks that were sent and are not done yet. */
  waiting = 0

  constructor(data: StageWorkerData, file: string, memoryMegabytes: number | undefined) {
    const maxHeap = divideMemory(memoryMegabytes).threadHeap
    this.#worker = new Worker(ENTRY, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: maxHeap, maxYoungGenerationSizeMb: 48 },
    })
    this.#worker.on('message', (reply: StageReply) => this.#take(reply))
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      this.#fail(clarify(error, file, memoryMegabytes)),
    )
    this.#worker.on('exit', () => this.#fail(new Error('a staging thread ended early')))
    // A failure is reported to the code that awaits these; otherwise it must not be an unhandled rejection.
    this.#summary.promise.catch(() => {})
    this.#room.promise.catch(() => {})
    this.#room.resolve(this)
  }

  #take(reply: StageReply): void {
    if ('refused' in reply) this.#fail(new SourceError(reply.refused))
    else if ('summary' in reply) this.#summary.resolve(reply.summary)
    else if (this.waiting-- === AHEAD) this.#room.resolve(this)
  }

  #fail(error: Error): void {
    this.#summary.reject(error)
    this.#room.reject(error)
    this.#room = Promise.withResolvers()
    this.#room.promise.catch(() => {})
    this.#room.reject(error)
  }

  /** Resolves when the thread can accept a block (backpressure). */
  free(): Promise<StageThread> {
    return this.#room.promise
  }

  async give(block: SourceBlock): Promise<void> {
    await this.#room.promise
    if (++this.waiting === AHEAD) {
      this.#room = Promise.withResolvers()
      this.#room.promise.catch(() => {})
    }
    this.#worker.postMessage(block satisfies StageRequest, blockArrays(block))
  }

  finish(): Promise<StageSummary> {
    this.#worker.postMessage(null satisfies StageRequest)
    return this.#summary.promise
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }
}

function clarify(error: NodeJS.ErrnoException, file: string, memoryMegabytes: number | undefined): Error {
  return error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new SourceError(needsMoreMemory(file, memoryMegabytes))
    : error
}
