import { Field } from '../components/form/field.tsx'
import { day } from '../words.ts'

/** The chosen expiry: unchanged, a number of days, never, or a date. */
export type Expiry =
  | { kind: 'keep' }
  | { kind: 'never' }
  | { kind: 'days'; days: number }
  | { kind: 'date'; date: string }

/** The end of the chosen day in UTC; undefined if nothing changes. */
export function expiryTime(expiry: Expiry, now: number): string | null | undefined {
  if (expiry.kind === 'keep') return undefined
  if (expiry.kind === 'never') return null
  if (expiry.kind === 'date') return `${expiry.date}T23:59:59Z`
  return new Date(now + expiry.days * 86_400_000).toISOString()
}

export function ExpiryField({
  expiry,
  onChange,
  current,
}: {
  expiry: Expiry
  onChange: (expiry: Expiry) => void
  /** The expiry of an existing key; undefined for a new one. */
  current?: string | null
}) {
  const value = expiry.kind === 'days' ? String(expiry.days) : expiry.kind
  const choose = (value: string) => {
    if (value === 'keep' || value === 'never') onChange({ kind: value })
    else if (value === 'date') onChange({ kind: 'date', date: '' })
    else onChange({ kind: 'days', days: Number(value) })
  }
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  return (
    <>
      <Field label="Expires" help="An expired key is refused until it gets a later expiry.">
        {(props) => (
          <select {...props} value={value} onChange={(event) => choose(event.target.value)}>
            {current !== undefined && (
              <option value="keep">
                {current === null ? 'Never, as it is' : `On ${day(current)}, as it is`}
              </option>
            )}
            {current !== null && <option value="never">Never</option>}
            <option value="30">In 30 days</option>
            <option value="90">In 90 days</option>
            <option value="365">In a year</option>
            <option value="date">On a date</option>
          </select>
        )}
      </Field>
      {expiry.kind === 'date' && (
        <Field label="Last day" help="The key works to the end of this day in UTC.">
          {(props) => (
            <input
              {...props}
              type="date"
              required
              min={tomorrow}
              value={expiry.date}
              onChange={(event) => onChange({ kind: 'date', date: event.target.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}
