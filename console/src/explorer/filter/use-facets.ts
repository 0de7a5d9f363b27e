import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { collectionUrl, nameList, readOgc } from '../../api/ogc.ts'
import type { Exploration } from '../access.ts'
import { type Clause, columnOf, filterText } from './clause.ts'
import { FACET_BINS, FACET_VALUES, type Facet, facetOfStatistics } from './facet.ts'

interface FacetResponse {
  facets: Record<string, Facet>
}

/** Loads the facets of columns among the rows that match a filter. */
function facetsQuery({ table, version }: Exploration['dataset'], columns: readonly string[], filter: string) {
  const query = { columns: nameList(columns), filter, limit: FACET_VALUES, bins: FACET_BINS }
  return {
    queryKey: ['facets', table, version, query],
    queryFn: ({ signal }: { signal: AbortSignal }) =>
      readOgc<FacetResponse>(collectionUrl(table, '/facets', query), signal),
    placeholderData: keepPreviousData,
    staleTime: 300_000,
  }
}

/**
 * The facets of columns. The clause on a column does not apply to the column's own facet, so that other values of it
 * can be added.
 */
export function useFacets(
  { dataset, access, filter }: Exploration,
  clauses: readonly Clause[],
  columns: readonly string[],
): ReadonlyMap<string, Facet> {
  const types = new Map(dataset.columns.map(({ name, type }) => [name, type]))
  const restricted = columns.filter((name) => clauses.some((clause) => columnOf(clause) === name))
  const free = columns.filter((name) => !restricted.includes(name))
  const requests = [
    { columns: free, filter },
    ...restricted.map((name) => ({
      columns: [name],
      filter: filterText(
        clauses.filter((clause) => columnOf(clause) !== name),
        types,
      ),
    })),
  ].filter((request) => request.columns.length > 0)
  const isOpen = access === 'all'
  const results = useQueries({
    queries: requests.map((request) => ({
      ...facetsQuery(dataset, request.columns, request.filter),
      enabled: isOpen,
    })),
    combine: (queries) => queries.map(({ data }) => data),
  })
  // While a facet is counted again, its last counts stay.
  const latest = useRef(new Map<string, Facet>())
  return useMemo(() => {
    const facets = new Map(latest.current)
    for (const result of results) {
      for (const [name, facet] of Object.entries(result?.facets ?? {})) facets.set(name, facet)
    }
    for (const column of dataset.columns) {
      if (isOpen || facets.has(column.name)) continue
      const facet = facetOfStatistics(column, dataset)
      if (facet) facets.set(column.name, facet)
    }
    latest.current = facets
    return facets
  }, [results, dataset, isOpen])
}
