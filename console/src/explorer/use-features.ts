import { useQuery } from '@tanstack/react-query'
import type { Feature } from '@wayleave/client'
import type { DatasetDetails } from '@wayleave/contract/records'
import { collectionUrl, readOgc } from '../api/ogc.ts'
import { useSample } from '../api/queries.ts'
import type { Access } from './access.ts'
import { sampleFeatures } from './sample-features.ts'

const HOUR_MS = 3_600_000

/** The sample's rows as features; undefined while they load. */
export function useSampleFeatures(dataset: DatasetDetails, enabled: boolean): Feature[] | undefined {
  const hasSample = dataset.sample !== null
  const { data } = useSample(dataset.table, dataset.version, enabled && hasSample)
  if (!enabled) return undefined
  return hasSample ? data && sampleFeatures(data) : []
}

/** One feature with all its properties and its exact geometry. */
export function useFeature(dataset: DatasetDetails, access: Access, id: string | null) {
  const sample = useSampleFeatures(dataset, access !== 'all' && id !== null)
  const query = useQuery({
    queryKey: ['feature', dataset.table, dataset.version, id],
    queryFn: ({ signal }) =>
      readOgc<Feature>(collectionUrl(dataset.table, `/items/${encodeURIComponent(id!)}`), signal),
    enabled: access === 'all' && id !== null,
    staleTime: HOUR_MS,
  })
  if (access === 'all') return { feature: query.data ?? null, error: query.error }
  return { feature: sample?.find((feature) => String(feature.id) === id) ?? null, error: null }
}

/** Whether the filter excludes a feature. */
export function useIsExcluded(
  { table, version }: DatasetDetails,
  access: Access,
  id: string | null,
  filter: string,
): boolean {
  const query = useQuery({
    queryKey: ['is-excluded', table, version, id, filter],
    queryFn: async ({ signal }) => {
      const url = collectionUrl(table, '/items', { ids: id!, resulttype: 'hits', filter })
      return (await readOgc<{ numberMatched?: number }>(url, signal)).numberMatched === 0
    },
    // A comma would separate two ids.
    enabled: access === 'all' && id !== null && filter !== '' && !id.includes(','),
    staleTime: HOUR_MS,
  })
  return query.data ?? false
}
