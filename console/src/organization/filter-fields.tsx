import { Field } from '../components/form/field.tsx'

/** A field that selects one of several values; an empty value means all. */
export function SelectField({
  label,
  value,
  onChange,
  options,
}: {
  label: string
  value: string
  onChange: (value: string) => void
  options: Readonly<Record<string, string>> | readonly (readonly [value: string, name: string])[]
}) {
  const rows = Array.isArray(options) ? options : Object.entries(options)
  return (
    <Field label={label}>
      {(props) => (
        <select {...props} value={value} onChange={(event) => onChange(event.target.value)}>
          {rows.map(([option, name]) => (
            <option key={option} value={option}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A date in UTC; empty for none. */
export function DateField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  return (
    <Field label={label}>
      {(props) => (
        <input {...props} type="date" value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  )
}

/** The query parameters for whole days in UTC, both included. */
export function dayRange(first: string, last: string): { since: string; until: string } {
  const after = last === '' ? '' : new Date(Date.parse(last) + 86_400_000).toISOString()
  return { since: first === '' ? '' : `${first}T00:00:00Z`, until: after }
}
