import { parentPort, workerData } from 'node:worker_threads'
import { SourceError } from '@wayleave/geodata/compile'
import type { FetchedSource } from './fetch-options.ts'
import type { PagesFailure, PagesMessage, PagesRequest } from './fetch-pages-in-thread.ts'

/** The thread of `fetchPagesInThread`. It is terminated if its caller does not want the pages any more. */
const { kind, address, options } = workerData as PagesRequest
const send = (message: PagesMessage) => parentPort!.postMessage(message)

async function fetchPages(): Promise<FetchedSource> {
  const all = {
    ...options,
    signal: new AbortController().signal,
    received: (received: number) => send({ received }),
    onBytes: (bytes: number) => send({ bytes }),
  }
  switch (kind) {
    case 'ogc':
      return (await import('./fetch-ogc-features.ts')).fetchOgcFeatures(address, all)
    case 'wfs':
      return (await import('./fetch-wfs.ts')).fetchWfs(address, all)
    case 'arcgis':
      return (await import('./fetch-arcgis.ts')).fetchArcgis(address, all)
  }
}

function failureOf(error: unknown): PagesFailure {
  const { message, stack = message, code } = error as NodeJS.ErrnoException
  if (error instanceof SourceError) return { refused: message }
  // A document of another shape than the standard says fails where it is used: a list that is none, a missing object.
  if (error instanceof TypeError || error instanceof RangeError)
    return { refused: `The service did not respond as expected: ${message}.` }
  return { failed: stack, code }
}

await fetchPages().then(
  (fetched) => send({ fetched }),
  (error: unknown) => send(failureOf(error)),
)
