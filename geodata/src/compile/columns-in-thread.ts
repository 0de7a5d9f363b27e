import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Manifest } from '../snapshot/manifest.ts'
import type { ColumnsReply, ColumnsRequest } from './columns-worker.ts'

const ENTRY = new URL('./columns-worker.ts', import.meta.url)

/**
 * Writes the compiled columns in a thread of their own, while this one merges the pack. The thread ends by
 * itself, also if the signal aborts: it must not be terminated while its database is working.
 */
export async function writeColumnsInThread(
  request: ColumnsRequest,
  signal?: AbortSignal,
): Promise<NonNullable<Manifest['statistics']>> {
  signal?.throwIfAborted()
  const worker = new Worker(ENTRY, { workerData: request })
  const stop = () => worker.postMessage('stop')
  signal?.addEventListener('abort', stop)
  try {
    const replying = once(worker, 'message') as Promise<[ColumnsReply]>
    const exiting = once(worker, 'exit')
    // `once` rejects both when the thread throws; only one of them is awaited then.
    exiting.catch(() => {})
    const [reply] = await Promise.race([
      replying,
      exiting.then((): never => {
        throw new Error('the thread that writes columns ended early')
      }),
    ])
    await exiting
    if ('error' in reply) throw reply.error
    return reply.statistics
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}
