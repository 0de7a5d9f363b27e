import type { Feature } from '@wayleave/client'
import { useCallback, useState } from 'react'
import type { Exploration } from './access.ts'
import { useFeature, useIsExcluded } from './use-features.ts'

export interface Selection {
  id: string | null
  /** The selected feature once it is loaded. */
  feature: Feature | null
  error: unknown
  /** Whether the filter excludes the selected feature. */
  isExcluded: boolean
  /** Where it was selected: its attributes are shown there. */
  from: 'map' | 'table'
  select: (id: string | null, from: 'map' | 'table') => void
}

/** The selected feature, which map and table share. `id` is part of the page's address. */
export function useSelection(
  { dataset, access, filter }: Exploration,
  id: string | null,
  setId: (id: string | null) => void,
): Selection {
  const [from, setFrom] = useState<'map' | 'table'>(dataset.bbox ? 'map' : 'table')
  const { feature, error } = useFeature(dataset, access, id)
  const isExcluded = useIsExcluded(dataset, access, id, filter)
  const select = useCallback(
    (id: string | null, from: 'map' | 'table') => {
      setFrom(from)
      setId(id)
    },
    [setId],
  )
  return { id, feature, error, isExcluded, from, select }
}
