import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import type { DateRange, UsageFilter } from '../api/queries.ts'
import { readFilter, readRange } from './usage-period.ts'

/** The days of a usage report, which the address has, so that a link shows the same. */
export function useUsageRange(): [DateRange, (range: DateRange) => void] {
  const [parameters, setParameters] = useSearchParams()
  const range = useMemo(() => readRange(parameters, Date.now()), [parameters])
  const change = ({ startDate, endDate }: DateRange) => {
    const changed = new URLSearchParams(parameters)
    changed.set('from', startDate)
    changed.set('to', endDate)
    setParameters(changed, { replace: true, preventScrollReset: true })
  }
  return [range, change]
}

/** The key and the dataset of a report, which the address has too. */
export function useUsageFilter(): [UsageFilter, (filter: UsageFilter) => void] {
  const [parameters, setParameters] = useSearchParams()
  const filter = useMemo(() => readFilter(parameters), [parameters])
  const change = ({ keyId, table }: UsageFilter) => {
    const changed = new URLSearchParams(parameters)
    for (const [name, value] of Object.entries({ key: keyId, table })) {
      if (value) changed.set(name, value)
      else changed.delete(name)
    }
    setParameters(changed, { replace: true, preventScrollReset: true })
  }
  return [filter, change]
}
