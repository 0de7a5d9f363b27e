import { Field } from '../components/form/field.tsx'

/** Why something is blocked, for the operators. */
export function ReasonField({ reason, onChange }: { reason: string; onChange: (reason: string) => void }) {
  return (
    <Field label="Reason" help="Shown to administrators only.">
      {(props) => (
        <input
          {...props}
          required
          maxLength={500}
          value={reason}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
