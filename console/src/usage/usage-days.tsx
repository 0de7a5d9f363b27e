import '../styles/usage.css'
import { lazy, Suspense, useState } from 'react'
import { count, day, plural } from '../words.ts'
import type { UsagePart } from './usage-parts.ts'
import { changeWords, sumOf, type UsageDay, type UsageMeasure } from './usage-period.ts'

const UsageChart = lazy(async () => ({ default: (await import('./usage-chart.tsx')).UsageChart }))

const MEASURES: Record<UsageMeasure, string> = { calls: 'Calls', credits: 'Credits' }

/**
 * The sums of calls and credits compared with the period before, and a chart of the days. The sum that is chosen is the
 * one that the chart shows.
 */
export function UsageDays({
  days,
  before,
  parts,
}: {
  days: readonly UsageDay[]
  /** As many days before; undefined while they are loaded. */
  before: readonly UsageDay[] | undefined
  /** The same by key, to split the bars; undefined if they are whole. */
  parts?: readonly UsagePart[] | undefined
}) {
  const [measure, setMeasure] = useState<UsageMeasure>('calls')
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form. */}
      <div className="usage-figures" role="group" aria-label="What the chart shows">
        {(Object.keys(MEASURES) as UsageMeasure[]).map((name) => (
          <button key={name} type="button" aria-pressed={name === measure} onClick={() => setMeasure(name)}>
            <span className="small soft">{MEASURES[name]}</span>
            <strong>{count(sumOf(days, name))}</strong>
            <span className="small soft">
              {before ? changeWords(sumOf(days, name), sumOf(before, name), days.length) : '…'}
            </span>
          </button>
        ))}
      </div>
      <Suspense fallback={<div className="chart" />}>
        <UsageChart days={days} before={before} parts={parts} measure={measure} label={MEASURES[measure]} />
      </Suspense>
    </>
  )
}

/** The chart as text: the busiest day, and for screen readers every day with calls. */
export function DaysAsText({ days }: { days: readonly UsageDay[] }) {
  const used = days.filter(({ calls }) => calls > 0)
  if (used.length === 0) return null
  const busiest = used.reduce((most, one) => (one.calls > most.calls ? one : most))
  return (
    <>
      {used.length > 1 && ` The busiest day was ${day(busiest.date)} with ${plural(busiest.calls, 'call')}.`}
      <span className="visually-hidden">
        {used
          .map(
            ({ date, calls, credits }) => `${day(date)}: ${count(calls)} calls, ${count(credits)} credits. `,
          )
          .join('')}
      </span>
    </>
  )
}
