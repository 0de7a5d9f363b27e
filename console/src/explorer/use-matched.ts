import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { DatasetDetails } from '@wayleave/contract/records'
import { collectionUrl, readOgc } from '../api/ogc.ts'
import { asProblem } from '../api/problem.ts'
import { useSettled } from '../components/use-settled.ts'
import type { Access } from './access.ts'
import type { Box } from './filter/clause.ts'

interface Hits {
  numberMatched?: number
}

const FIVE_MINUTES_MS = 300_000

/** Counts rows exactly; null if the service could not count them in time. */
export async function countRows(table: string, filter: string, signal: AbortSignal): Promise<number | null> {
  const url = collectionUrl(table, '/items', { resulttype: 'hits', filter })
  return (await readOgc<Hits>(url, signal)).numberMatched ?? null
}

/** The number of rows that match the filter. It also tells whether the filter is valid. */
export function useMatched({ table, version, rows }: DatasetDetails, access: Access, filter: string) {
  return useQuery({
    queryKey: ['matched', table, version, filter],
    queryFn: ({ signal }) => (filter === '' ? rows : countRows(table, filter, signal)),
    enabled: access === 'all',
    staleTime: FIVE_MINUTES_MS,
    retry: (failures, error) => failures < 2 && [0, 503].includes(asProblem(error).status),
  })
}

/** The number of matching features that the map shows now. */
export function useMatchedInView(
  { table, version }: DatasetDetails,
  access: Access,
  filter: string,
  box: Box | null,
) {
  const settled = useSettled(box, 200)
  const inView = settled && boxFilter(settled, filter)
  return useQuery({
    queryKey: ['matched', table, version, inView],
    queryFn: ({ signal }) => countRows(table, inView!, signal),
    enabled: access === 'all' && inView !== null,
    placeholderData: keepPreviousData,
    staleTime: FIVE_MINUTES_MS,
  })
}

/** A filter by a box. It uses S_INTERSECTS because `bbox` also matches features without a geometry. */
function boxFilter(box: Box, filter: string): string {
  const text = `S_INTERSECTS(geometry, BBOX(${box.map((value) => Number(value.toFixed(6))).join(', ')}))`
  return filter === '' ? text : `${text} AND (${filter})`
}
