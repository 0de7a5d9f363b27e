import type { Dataset } from '@wayleave/client'
import { searchDatasets } from '../datasets/search-datasets.ts'
import { shapeName } from '../words.ts'

/** What a visitor has chosen; it is in the address of the page. */
export interface CatalogQuery {
  q: string
  keyword: string
  license: string
  kind: string
  updated: string
  sort: string
}

export const FACETS = ['keyword', 'license', 'kind', 'updated'] as const
export type Facet = (typeof FACETS)[number]

const DAY_MS = 86_400_000
/** The ages of the last update, in days. */
const AGES: [value: string, days: number][] = [
  ['Last week', 7],
  ['Last month', 31],
  ['Last year', 366],
]

const values: Record<Facet, (dataset: Dataset, now: number) => string[]> = {
  keyword: ({ keywords }) => keywords,
  license: ({ license }) => (license ? [license] : []),
  kind: (dataset) => [shapeName(dataset)],
  updated: ({ updatedAt }, now) =>
    AGES.filter(([, days]) => now - Date.parse(updatedAt) < days * DAY_MS).map(([value]) => value),
}

export const SORTS: Record<string, string> = {
  title: 'Title',
  updated: 'Recently updated',
  rows: 'Most rows',
  credits: 'Price',
}

const orders: Record<string, (a: Dataset, b: Dataset) => number> = {
  title: (a, b) => a.title.localeCompare(b.title),
  updated: (a, b) => b.updatedAt.localeCompare(a.updatedAt),
  rows: (a, b) => b.rows - a.rows,
  credits: (a, b) => a.credits - b.credits,
}

export function readQuery(parameters: URLSearchParams): CatalogQuery {
  const read = (name: string) => parameters.get(name) ?? ''
  return {
    q: read('q'),
    keyword: read('keyword'),
    license: read('license'),
    kind: read('kind'),
    updated: read('updated'),
    sort: read('sort') in SORTS ? read('sort') : 'title',
  }
}

/** The datasets that match everything that was chosen, in the chosen order. */
export function selectDatasets(all: readonly Dataset[], query: CatalogQuery, now: number): Dataset[] {
  return matching(all, query, now, null).sort(orders[query.sort])
}

export interface FacetCount {
  value: string
  count: number
}

/**
 * The values of a facet with the number of datasets that choosing it would leave: its own choice is left out,
 * the others hold.
 */
export function countFacet(
  all: readonly Dataset[],
  query: CatalogQuery,
  facet: Facet,
  now: number,
): FacetCount[] {
  const counts = new Map<string, number>()
  for (const dataset of matching(all, query, now, facet)) {
    for (const value of new Set(values[facet](dataset, now))) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  const rows = [...counts].map(([value, count]) => ({ value, count }))
  if (facet === 'updated') return rows.sort((a, b) => a.count - b.count)
  return rows.sort((a, b) => b.count - a.count || a.value.localeCompare(b.value))
}

function matching(
  all: readonly Dataset[],
  query: CatalogQuery,
  now: number,
  except: Facet | null,
): Dataset[] {
  return searchDatasets(all, query.q).filter((dataset) =>
    FACETS.every(
      (facet) =>
        facet === except || query[facet] === '' || values[facet](dataset, now).includes(query[facet]),
    ),
  )
}
