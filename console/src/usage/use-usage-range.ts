import { useMemo } from 'react'
import type { DateRange, UsageFilter } from '../api/queries.ts'
import { useParameters } from '../components/page/use-parameters.ts'
import { readFilter, readRange } from './usage-period.ts'

/** The days of a usage report, which the address has, so that a link shows the same. */
export function useUsageRange(): [DateRange, (range: DateRange) => void] {
  const [parameters, setParameters] = useParameters()
  const range = useMemo(() => readRange(parameters, Date.now()), [parameters])
  const change = ({ startDate, endDate }: DateRange) =>
    setParameters((current) => {
      const changed = new URLSearchParams(current)
      changed.set('from', startDate)
      changed.set('to', endDate)
      return changed
    })
  return [range, change]
}

/** The key and the dataset of a report, which the address has too. */
export function useUsageFilter(): [UsageFilter, (filter: UsageFilter) => void] {
  const [parameters, setParameters] = useParameters()
  const filter = useMemo(() => readFilter(parameters), [parameters])
  const change = ({ keyId, table }: UsageFilter) =>
    setParameters((current) => {
      const changed = new URLSearchParams(current)
      for (const [name, value] of Object.entries({ key: keyId, table })) {
        if (value) changed.set(name, value)
        else changed.delete(name)
      }
      return changed
    })
  return [filter, change]
}
