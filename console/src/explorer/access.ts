import type { DatasetDetails } from '@wayleave/contract/records'
import { useMe, useSession } from '../api/queries.ts'

/** `all`: every row can be read. Otherwise only the sample and the statistics can. Null while it is unknown. */
export type Access = 'all' | 'signed-out' | 'locked' | null

export function useAccess(dataset: DatasetDetails): Access {
  const isSignedIn = useSession() === 'signed-in'
  const me = useMe()
  if (dataset.access.includes('features')) return 'all'
  if (!isSignedIn) return 'signed-out'
  if (!me.data) return null
  // The list, which is shown until the dataset is loaded, does not say what the user may get.
  const hasAddOn = me.data.organization?.addOns.includes('GIS_ACCESS') ?? false
  return hasAddOn && dataset.visibility === 'public' ? 'all' : 'locked'
}

/** What every part of the explorer works on. */
export interface Exploration {
  dataset: DatasetDetails
  access: Access
  /** The CQL2 text of the filter; empty for all rows. */
  filter: string
}
