import { Field } from './field.tsx'

/** A whole number, as the text of its input. An optional one may be empty. */
export function NumberField({
  label,
  value,
  onChange,
  help,
  wrong,
  min = 0,
  max = 1_000_000_000,
  isOptional = false,
}: {
  label: string
  value: string
  onChange: (value: string) => void
  help?: string
  wrong?: string | undefined
  min?: number
  max?: number
  isOptional?: boolean
}) {
  return (
    <Field label={label} wrong={wrong} {...(help !== undefined && { help })}>
      {(props) => (
        <input
          {...props}
          type="number"
          min={min}
          max={max}
          step={1}
          required={!isOptional}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

/** The number of an optional field; null if it is empty. */
export function numberOf(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

export function textOf(number: number | null): string {
  return number === null ? '' : String(number)
}
