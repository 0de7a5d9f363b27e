import { Worker } from 'node:worker_threads'
import { SourceError } from '@wayleave/geodata/compile'
import type { SourceKind } from '../source-address.ts'
import type { FetchedSource, FetchOptions } from './fetch-options.ts'

export type PagedKind = Extract<SourceKind, 'ogc' | 'wfs' | 'arcgis'>

export interface PagesRequest {
  kind: PagedKind
  address: string
  /** Functions cannot be sent to a thread. */
  options: Pick<FetchOptions, 'credentials' | 'folder' | 'maxBytes' | 'limits' | 'allowInternal'>
}

export type PagesFailure = { refused: string } | { failed: string; code?: string | undefined }
export type PagesMessage =
  | { received: number }
  | { bytes: number }
  | { fetched: FetchedSource }
  | PagesFailure

/** A list of 64 MB takes a third of it, and so does a page of 16 MB of usual features. */
const MAX_HEAP_MEGABYTES = 1024

/**
 * Fetches the pages of a service in a thread of its own: whole documents are parsed, up to 64 MB of what somebody else
 * sends, which takes a second of processor time, and memory that nobody else may run out of.
 */
export async function fetchPagesInThread(
  kind: PagedKind,
  address: string,
  { signal, received, onBytes, credentials, folder, maxBytes, limits, allowInternal }: FetchOptions,
): Promise<FetchedSource> {
  signal.throwIfAborted()
  const options = { credentials, folder, maxBytes, limits, allowInternal }
  const worker = new Worker(new URL('./pages-thread.ts', import.meta.url), {
    workerData: { kind, address, options } satisfies PagesRequest,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MEGABYTES },
  })
  const { promise, resolve, reject } = Promise.withResolvers<FetchedSource>()
  worker.on('message', (message: PagesMessage) => {
    if ('received' in message) received(message.received)
    else if ('bytes' in message) onBytes?.(message.bytes)
    else if ('fetched' in message) resolve(message.fetched)
    else reject(errorOf(message))
  })
  worker.on('error', (error: NodeJS.ErrnoException) => {
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory() : error)
  })
  worker.on('exit', () => reject(new Error('The thread that reads the pages of a source ended early.')))
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
    // It writes to the caller's folder no longer.
    await worker.terminate()
  }
}

function errorOf(failure: PagesFailure): Error {
  if ('refused' in failure) return new SourceError(failure.refused)
  return Object.assign(new Error(failure.failed), failure.code !== undefined && { code: failure.code })
}

function tooMuchMemory(): SourceError {
  return new SourceError(
    `The documents of the service need more than ${MAX_HEAP_MEGABYTES >> 10} GB of memory to be read.`,
  )
}
