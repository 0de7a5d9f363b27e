import type { Dataset } from '../../data/catalog/dataset.ts'
import { EXTRACT_ENCODINGS, negotiate } from '../request/encodings.ts'
import {
  type ItemsQuery,
  isCountParameter,
  type ReadingRules,
  readItemsQuery,
} from '../request/items-query.ts'
import { type QueryPair, unknownParameter } from '../request/query-string.ts'

/** A file has all matching rows with all columns in WGS84, so there is nothing to page, cut or transform. */
const REFUSED = ['limit', 'offset', 'cursor', 'crs', 'properties', 'resulttype', 'resultType']

/** A request for a file of the rows that match. */
export interface ExtractQuery {
  encoding: (typeof EXTRACT_ENCODINGS)[number]
  /** Which rows, and in which order. */
  items: ItemsQuery
}

export function readExtractQuery(
  pairs: readonly QueryPair[],
  accept: string | undefined,
  dataset: Dataset,
  rules: ReadingRules,
): ExtractQuery {
  const refused = pairs.find((pair) => REFUSED.includes(pair.name) || isCountParameter(pair))
  if (refused) throw unknownParameter(refused.name)
  const f = pairs.find(({ name }) => name === 'f')?.value
  const selecting = pairs.filter(({ name }) => name !== 'f')
  return {
    encoding: negotiate(EXTRACT_ENCODINGS, f, accept),
    items: readItemsQuery(selecting, undefined, dataset, rules),
  }
}
