import { Field } from '../components/form/field.tsx'

/** An amount of credits, as the text of its input. */
export function CreditsField({
  credits,
  onChange,
  help,
}: {
  credits: string
  onChange: (credits: string) => void
  help?: string
}) {
  return (
    <Field label="Credits" {...(help !== undefined && { help })}>
      {(props) => (
        <input
          {...props}
          type="number"
          min={0}
          max={1_000_000_000}
          step={1}
          required
          value={credits}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
