import { useQuery } from '@tanstack/react-query'
import type { Feature } from '@wayleave/client'
import type { MapLook } from '@wayleave/contract/map-style'
import { useMemo } from 'react'
import { collectionUrl, readOgc } from '../../api/ogc.ts'
import type { Exploration } from '../access.ts'
import { useSampleFeatures } from '../use-features.ts'
import { attributionOf } from './attribution.ts'
import { summedColumns } from './color-columns.ts'
import { featureSource } from './feature-source.ts'
import type { DataSource } from './map-style.ts'
import { tileSource, useTileset } from './tileset.ts'

/** Without tiles the map draws this many features at most. */
export const MAX_FEATURES = 2500

export interface MapSource {
  data: DataSource | null
  /** How many features are drawn if they do not come from tiles. */
  drawn: number | null
  error: unknown
}

/** What the map draws: tiles if there are any, else features, and the sample for users who may not see more. */
export function useMapSource({ dataset, access, filter }: Exploration, look: MapLook): MapSource {
  const { table, version, tiles } = dataset
  const isOpen = access === 'all'
  const tileset = useTileset(dataset, isOpen)
  const sample = useSampleFeatures(dataset, access !== null && !isOpen)
  const page = useQuery({
    queryKey: ['map-features', table, version, filter],
    queryFn: ({ signal }) =>
      readOgc<{ features: Feature[] }>(
        collectionUrl(table, '/items', { limit: MAX_FEATURES, count: 'none', filter }),
        signal,
      ),
    enabled: isOpen && tiles?.state !== 'ready',
    staleTime: 300_000,
  })
  const features = isOpen ? page.data?.features : sample
  const by = summedColumns(dataset, look)
  const data = useMemo((): DataSource | null => {
    if (isOpen && tileset.data) return tileSource(dataset, tileset.data, filter, by)
    return features ? featureSource(features, attributionOf(dataset)) : null
  }, [isOpen, tileset.data, dataset, filter, features, by.join()])
  const drawn = data?.kind === 'features' ? (features?.length ?? 0) : null
  return { data, drawn, error: tileset.error ?? page.error }
}
