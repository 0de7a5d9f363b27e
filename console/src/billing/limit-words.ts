import type { PlanLimits } from '@wayleave/contract/records'
import { count, plural } from '../words.ts'

/** What a plan limits, in words; empty if nothing. */
export function limitWords({ requestsPerMinute, featuresPerDay, keys, members }: PlanLimits): string {
  return [
    requestsPerMinute !== null && `${count(requestsPerMinute)} requests a minute`,
    featuresPerDay !== null && `${count(featuresPerDay)} features a day`,
    keys !== null && plural(keys, 'key'),
    members !== null && plural(members, 'member'),
  ]
    .filter(Boolean)
    .join(', ')
}
