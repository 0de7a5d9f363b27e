import '../styles/usage.css'
import { useId } from 'react'
import type { DateRange } from '../api/queries.ts'
import { lastDays } from '../words.ts'
import { daysIn, MAX_DAYS } from './usage-period.ts'

const PRESETS: [days: number, name: string][] = [
  [7, '7 days'],
  [30, '30 days'],
  [90, '90 days'],
  [365, 'Year'],
]

/** A date range in UTC, both ends included. Each change keeps the dates in order and at most a year apart. */
export function DateRangeField({
  range,
  onChange,
}: {
  range: DateRange
  onChange: (range: DateRange) => void
}) {
  const id = useId()
  const now = Date.now()
  const today = lastDays(1, now).endDate
  const change = (part: Partial<DateRange>) => {
    const { startDate, endDate } = { ...range, ...part }
    if (!startDate || !endDate) return
    const days = daysIn({ startDate, endDate })
    if (days >= 1 && days <= MAX_DAYS) return onChange({ startDate, endDate })
    const date = part.startDate ?? part.endDate!
    onChange({ startDate: date, endDate: date })
  }
  const isShown = (days: number) => range.endDate === today && daysIn(range) === days
  return (
    <div className="dates">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form. */}
      <div className="segments" role="group" aria-label="Period">
        {PRESETS.map(([days, name]) => (
          <button
            key={days}
            type="button"
            aria-pressed={isShown(days)}
            onClick={() => onChange(lastDays(days, now))}
          >
            {name}
          </button>
        ))}
      </div>
      <label className="visually-hidden" htmlFor={`${id}-from`}>
        First day
      </label>
      <input
        id={`${id}-from`}
        type="date"
        max={today}
        value={range.startDate}
        onChange={(event) => change({ startDate: event.target.value })}
      />
      <label className="visually-hidden" htmlFor={`${id}-to`}>
        Last day
      </label>
      <input
        id={`${id}-to`}
        type="date"
        max={today}
        value={range.endDate}
        onChange={(event) => change({ endDate: event.target.value })}
      />
    </div>
  )
}
