import type { DatasetDetails } from '@wayleave/contract/records'
import { useMe, useSession } from '../api/queries.ts'

/** `all`: every row can be read. Otherwise only the sample and the statistics can. Null while it is unknown. */
export type Access = 'all' | 'signed-out' | 'locked' | null

export function useAccess(): Access {
  const isSignedIn = useSession() === 'signed-in'
  const me = useMe()
  if (!isSignedIn) return 'signed-out'
  if (!me.data) return null
  return me.data.organization?.addOns.includes('GIS_ACCESS') ? 'all' : 'locked'
}

/** What every part of the explorer works on. */
export interface Exploration {
  dataset: DatasetDetails
  access: Access
  /** The CQL2 text of the filter; empty for all rows. */
  filter: string
}
