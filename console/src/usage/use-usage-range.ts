import { useMemo } from 'react'
import { useSearchParams } from 'react-router'
import type { DateRange } from '../api/queries.ts'
import { readRange } from './usage-period.ts'

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
