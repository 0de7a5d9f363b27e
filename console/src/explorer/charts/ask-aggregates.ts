import { collectionUrl, readOgc } from '../../api/ogc.ts'
import type { Ask } from './aggregate.ts'

/** Asks the service with the reader's key. */
export function askAggregates(table: string, signal: AbortSignal): Ask {
  return ({ groupby, measures, ...query }) =>
    readOgc(
      collectionUrl(table, '/aggregate', {
        groupby: groupby && JSON.stringify(groupby),
        measures: JSON.stringify(measures),
        ...query,
      }),
      signal,
    )
}
