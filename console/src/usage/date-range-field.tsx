import { useId } from 'react'
import type { DateRange } from '../api/queries.ts'
import { lastDays } from '../words.ts'

const MAX_DAYS = 366

/** A date range in UTC, both ends included. Each change keeps the dates in order and at most a year apart. */
export function DateRangeField({
  range,
  onChange,
}: {
  range: DateRange
  onChange: (range: DateRange) => void
}) {
  const id = useId()
  const today = lastDays(1, Date.now()).endDate
  const change = (part: Partial<DateRange>) => {
    const { startDate, endDate } = { ...range, ...part }
    if (!startDate || !endDate) return
    const days = (Date.parse(endDate) - Date.parse(startDate)) / 86_400_000 + 1
    if (days >= 1 && days <= MAX_DAYS) return onChange({ startDate, endDate })
    const date = part.startDate ?? part.endDate!
    onChange({ startDate: date, endDate: date })
  }
  return (
    <div className="dates">
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
      {[7, 30, 365].map((days) => (
        <button
          key={days}
          type="button"
          className="button small"
          onClick={() => onChange(lastDays(days, Date.now()))}
        >
          {days === 365 ? 'Year' : `${days} days`}
        </button>
      ))}
    </div>
  )
}
