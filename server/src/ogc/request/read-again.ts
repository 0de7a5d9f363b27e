import { BoundedCache } from '@wayleave/geodata/base'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { type ItemsQuery, type ReadingRules, readItemsQuery } from './items-query.ts'
import { type QueryPair, readQuery } from './query-string.ts'
import { SeenAgain } from './seen-again.ts'

/** The memory of all queries that were read, in bytes. */
const MAX_BYTES = 8 << 20
/** An estimate of what a query takes: the texts of its parameters, and what every one has, the links of its pages included. */
const BYTES_PER_CHARACTER = 20
const MIN_BYTES = 3000
/** Longer ones are read each time. */
const MAX_LENGTH = 500

interface ReadBefore {
  dataset: number
  accept: string | undefined
  query: ItemsQuery
}

/** By URL. */
const queries = new BoundedCache<string, ReadBefore>(
  MAX_BYTES,
  (_before, url) => MIN_BYTES + url.length * BYTES_PER_CHARACTER,
)

const urls = new SeenAgain()

/** The parameters of the queries that are kept. See docs/decisions/kept-pages.md. */
export const keptPairs = new WeakSet<readonly QueryPair[]>()

/** A number for each state of a dataset, because what a query means depends on the columns. */
const numbers = new WeakMap<Dataset, number>()
let lastNumber = 0

/**
 * The query of a URL. Maps and lists request the same pages again and again, and reading its parameters takes a
 * twentieth of the time of a page of ten features. Kept from the second request on; refused queries and URLs with a key
 * are not kept.
 */
export function readItemsUrl(
  url: string,
  accept: string | undefined,
  dataset: Dataset,
  rules: ReadingRules,
): ItemsQuery {
  const number = numberOf(dataset)
  const before = queries.get(url)
  if (before !== undefined && before.dataset === number && before.accept === accept) return before.query
  const query = readItemsQuery(readQuery(url), accept, dataset, rules)
  if (url.length <= MAX_LENGTH && urls.note(url) && !url.includes('api_key=')) {
    queries.set(url, { dataset: number, accept, query })
    keptPairs.add(query.pairs)
  }
  return query
}

function numberOf(dataset: Dataset): number {
  let number = numbers.get(dataset)
  if (number === undefined) {
    number = ++lastNumber
    numbers.set(dataset, number)
  }
  return number
}
