import type { UsageReport as Usage } from '@wayleave/contract/records'
import { lazy, Suspense, useState } from 'react'
import { type DateRange, useUsage } from '../api/queries.ts'
import { Loaded } from '../components/page/loaded.tsx'
import { count, day, lastDays, plural } from '../words.ts'
import { DateRangeField } from './date-range-field.tsx'
import { OperationTable } from './operation-table.tsx'

const UsageChart = lazy(async () => ({ default: (await import('./usage-chart.tsx')).UsageChart }))

/** Calls and credits of a key, by day and by operation. */
export function UsageReport({ path }: { path: string }) {
  const [range, setRange] = useState(() => lastDays(30, Date.now()))
  const usage = useUsage(path, range)
  return (
    <div className="stack">
      <UsageByDay usage={usage} range={range} onRange={setRange} />
      <section className="card flush">
        <div className="card-head">
          <h2>By operation</h2>
        </div>
        <Loaded query={usage} lines={3}>
          {({ operations }) => <OperationTable operations={operations} />}
        </Loaded>
      </section>
    </div>
  )
}

export function UsageByDay({
  usage,
  range,
  onRange,
}: {
  usage: { data: Usage | undefined; isError: boolean; error: unknown; refetch: () => unknown }
  range: DateRange
  onRange: (range: DateRange) => void
}) {
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>Usage by day</h2>
        <DateRangeField range={range} onChange={onRange} />
      </div>
      <Loaded query={usage} lines={1} height="15.6rem">
        {(data) => (
          <>
            <Suspense fallback={<div className="chart" />}>
              <UsageChart days={data.days} />
            </Suspense>
            <p className="padded small soft" data-usage-totals>
              {plural(data.totals.calls, 'call')} and {plural(data.totals.credits, 'credit')} from{' '}
              {day(data.startDate)} to {day(data.endDate)} (UTC)
              {data.totals.calls === 0 && ': no calls in this period'}.
              <span className="visually-hidden">
                {data.days
                  .filter(({ calls }) => calls > 0)
                  .map(
                    ({ date, calls, credits }) =>
                      `${day(date)}: ${count(calls)} calls, ${count(credits)} credits. `,
                  )
                  .join('')}
              </span>
            </p>
          </>
        )}
      </Loaded>
    </section>
  )
}
