import type { PublishOptions, PublishReport } from '../publishing/publish-request.ts'
import type { Fetched, FetchedSource, FetchOptions } from './fetch/fetch-options.ts'

/** Less is read faster than the process that reads it starts. */
const MIN_BYTES = 1 << 24

type Begun = Pick<FetchedSource, 'path' | 'file'>

/**
 * Publishes a source while it is fetched, if its format states its end and it is large, otherwise afterwards. If either
 * fails, both end, and nothing is published.
 */
export async function whileFetching(
  fetch: (options: Pick<FetchOptions, 'signal' | 'onBytes' | 'onBegin'>) => Promise<Fetched>,
  publish: (source: Begun, options: Pick<PublishOptions, 'whole'>) => Promise<PublishReport>,
  signal: AbortSignal,
) {
  const large = Promise.withResolvers<Begun>()
  const stop = new AbortController()
  let begun: Begun | null = null
  const fetching = fetch({
    signal: AbortSignal.any([signal, stop.signal]),
    onBegin: (source) => {
      begun = source
    },
    onBytes: (bytes) => {
      if (begun !== null && bytes >= MIN_BYTES) large.resolve(begun)
    },
  })
  try {
    const first = await Promise.race([fetching, large.promise])
    if (first === null) return null
    const report = 'bytes' in first ? await publish(first, {}) : await publish(first, { whole: fetching })
    const { validators, bytes } = (await fetching)!
    return { report, validators, bytes }
  } finally {
    stop.abort()
    // The folder with the file is removed next.
    await fetching.catch(() => {})
  }
}
