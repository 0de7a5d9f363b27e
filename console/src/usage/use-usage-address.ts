import { useMemo } from 'react'
import type { DateRange, UsageFilter } from '../api/queries.ts'
import { useParameters } from '../components/page/use-parameters.ts'
import { readFilter, readRange } from './usage-period.ts'

/** The days, the key and the dataset of a usage report, which the address has, so that a link shows the same. */
export function useUsageAddress() {
  const [parameters, setParameters] = useParameters()
  const range = useMemo(() => readRange(parameters, Date.now()), [parameters])
  const filter = useMemo(() => readFilter(parameters), [parameters])
  const set = (values: Record<string, string | undefined>) =>
    setParameters((current) => {
      const changed = new URLSearchParams(current)
      for (const [name, value] of Object.entries(values)) {
        if (value) changed.set(name, value)
        else changed.delete(name)
      }
      return changed
    })
  return {
    range,
    setRange: ({ startDate, endDate }: DateRange) => set({ from: startDate, to: endDate }),
    filter,
    setFilter: ({ keyId, table }: UsageFilter) => set({ key: keyId, table }),
  }
}
