import type { UsageReport as Usage } from '@wayleave/contract/records'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { type DateRange, type UsageFilter, useUsage } from '../api/queries.ts'
import { Empty } from '../components/page/empty.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { day, lastDays, plural } from '../words.ts'
import { DateRangeField } from './date-range-field.tsx'
import { OperationTable } from './operation-table.tsx'
import { DaysAsText, UsageDays } from './usage-days.tsx'
import type { UsagePart } from './usage-parts.ts'
import { periodBefore } from './usage-period.ts'
import { useUsageAddress } from './use-usage-address.ts'

/** Calls and credits of a key, by day and by operation. */
export function UsageReport({ path, isOver }: { path: string; isOver: boolean }) {
  const { range, setRange } = useUsageAddress()
  const usage = useUsage(path, range)
  return (
    <div className="stack">
      <UsageByDay path={path} usage={usage} range={range} onRange={setRange} isOver={isOver} />
      <Loaded query={usage} lines={3}>
        {({ operations }) => <OperationTable operations={operations} />}
      </Loaded>
    </div>
  )
}

export function UsageByDay({
  path,
  usage,
  range,
  onRange,
  filter = {},
  isOver = false,
  parts,
  children,
}: {
  /** The path of the report in the API. */
  path: string
  usage: { data: Usage | undefined; isError: boolean; error: unknown; refetch: () => unknown }
  range: DateRange
  onRange: (range: DateRange) => void
  /** What the report is restricted to. */
  filter?: UsageFilter
  /** Whether there can be no more calls, such as with a revoked key. */
  isOver?: boolean
  /** The same by key, to split the bars of the chart. */
  parts?: UsagePart[] | undefined
  /** Further controls, below the period. */
  children?: ReactNode
}) {
  const before = useUsage(path, { ...periodBefore(range), ...filter }).data
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>Usage by day</h2>
        <DateRangeField range={range} onChange={onRange} />
      </div>
      {children}
      <Loaded query={usage} lines={1} height="15.6rem">
        {(data) => (
          <>
            {data.totals.calls === 0 ? (
              <NoCalls isOver={isOver} onYear={() => onRange(lastDays(365, Date.now()))} />
            ) : (
              <UsageDays days={data.days} before={before?.days} parts={parts} />
            )}
            <p className="padded small soft" data-usage-totals>
              {plural(data.totals.calls, 'call')} and {plural(data.totals.credits, 'credit')} from{' '}
              {day(data.startDate)} to {day(data.endDate)} (UTC).
              <DaysAsText days={data.days} />
            </p>
          </>
        )}
      </Loaded>
    </section>
  )
}

function NoCalls({ isOver, onYear }: { isOver: boolean; onYear: () => void }) {
  return (
    <Empty title="No calls in this period">
      {!isOver && (
        <p>A call is counted here a few seconds after a program has used a key, or a member the console.</p>
      )}
      <div className="row">
        {!isOver && (
          <Link className="button primary" to="/getting-started">
            Make a call
          </Link>
        )}
        <button type="button" className="button" onClick={onYear}>
          Look at the last year
        </button>
      </div>
    </Empty>
  )
}
