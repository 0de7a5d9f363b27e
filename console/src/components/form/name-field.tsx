import type { ReactNode } from 'react'
import { fieldErrorOf } from '../../api/problem.ts'
import { Field } from './field.tsx'

/** The name field of a key or an organization, with the service's validation error. */
export function NameField({
  name,
  onChange,
  help,
  error,
}: {
  name: string
  onChange: (name: string) => void
  help?: ReactNode
  /** The error of the last submit. */
  error: unknown
}) {
  return (
    <Field label="Name" help={help} wrong={fieldErrorOf(error, '/name')}>
      {(props) => (
        <input
          {...props}
          required
          maxLength={100}
          value={name}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}
