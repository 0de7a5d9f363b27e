import { useQueries } from '@tanstack/react-query'
import type { OrganizationUsage } from '@wayleave/contract/records'
import { type DateRange, type UsageFilter, usageQuery } from '../api/queries.ts'
import type { UsagePart } from './usage-parts.ts'

/** More than that are no longer told apart; the others are one part. */
const MAX_PARTS = 5

/** The days of the keys with the most calls; undefined while they are loaded, or if nobody asks. */
export function useKeyParts(
  path: string,
  range: DateRange & UsageFilter,
  usage: OrganizationUsage | undefined,
  isWanted: boolean,
): UsagePart[] | undefined {
  const keys = isWanted ? (usage?.keys ?? []).slice(0, MAX_PARTS) : []
  const results = useQueries({
    queries: keys.map(({ keyId }) => usageQuery(path, { ...range, keyId })),
  })
  if (keys.length === 0 || results.some(({ data }) => data === undefined)) return undefined
  return keys.map(({ keyId, name }, i) => ({ name: name ?? keyId, days: results[i]!.data!.days }))
}
