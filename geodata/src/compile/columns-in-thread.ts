import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Manifest } from '../snapshot/manifest.ts'
import type { ColumnsReply, ColumnsRequest, ColumnsThreadData } from './columns-worker.ts'

const ENTRY = new URL('./columns-worker.ts', import.meta.url)

/**
 * A thread that writes the compiled columns while this one merges the pack. It is started before the rows are
 * written, because loading its code and opening its database take 0.2 s. It ends by itself, also if it has to
 * stop: it must not be terminated while its database is working.
 */
export class ColumnsThread {
  readonly #worker: Worker
  readonly #exiting: Promise<unknown>

  constructor(data: ColumnsThreadData) {
    this.#worker = new Worker(ENTRY, { workerData: data })
    this.#exiting = once(this.#worker, 'exit')
    // It rejects if the thread throws, which `write` reports.
    this.#exiting.catch(() => {})
  }

  /** Call it at most once. */
  async write(request: ColumnsRequest, signal?: AbortSignal): Promise<NonNullable<Manifest['statistics']>> {
    signal?.throwIfAborted()
    const stop = () => this.stop()
    signal?.addEventListener('abort', stop)
    try {
      this.#worker.postMessage(request)
      const [reply] = await Promise.race([
        once(this.#worker, 'message') as Promise<[ColumnsReply]>,
        this.#exiting.then((): never => {
          throw new Error('the thread that writes columns ended early')
        }),
      ])
      await this.#exiting
      if ('error' in reply) throw reply.error
      return reply.statistics
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** Asks the thread to end. */
  stop(): void {
    this.#worker.postMessage('stop')
  }
}
