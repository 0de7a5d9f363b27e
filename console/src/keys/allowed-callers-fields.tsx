import { type ReactNode, useState } from 'react'
import { asProblem } from '../api/problem.ts'
import { Field } from '../components/form/field.tsx'
import { type AllowedCallers, linesOf, listFieldError } from './allowed-callers.ts'

/** The web pages and networks that may use a key, one a line. They are folded away unless there are some. */
export function AllowedCallersFields({
  callers,
  onChange,
  error,
}: {
  callers: AllowedCallers
  onChange: (callers: AllowedCallers) => void
  /** The error of the last submit. */
  error: unknown
}) {
  const [isOpen] = useState(callers.origins !== '' || callers.addresses !== '')
  const errors = error ? asProblem(error).errors : []
  const lines = (field: keyof AllowedCallers, label: string, help: ReactNode, example: string) => {
    const path = field === 'origins' ? '/allowedOrigins' : '/allowedAddresses'
    return (
      <Field label={label} help={help} wrong={listFieldError(errors, path, callers[field])}>
        {(props) => (
          <textarea
            {...props}
            rows={Math.min(6, Math.max(2, linesOf(callers[field]).length))}
            maxLength={15_000}
            placeholder={example}
            spellCheck={false}
            value={callers[field]}
            onChange={(event) => onChange({ ...callers, [field]: event.target.value })}
          />
        )}
      </Field>
    )
  }
  return (
    <details className="stack-small" open={isOpen}>
      <summary>Where the key may be used</summary>
      <div className="stack">
        {lines(
          'origins',
          'Web pages',
          'For a key in a web page: the addresses of the sites that may use it, one a line. Browsers then refuse to use it on other sites; programs outside of browsers can pretend to be such a page. Empty: anywhere.',
          'https://maps.example.org\nhttps://*.example.net',
        )}
        {lines(
          'addresses',
          'Network addresses',
          'For a key of a server: the addresses or networks that it calls from, one a line. Empty: any.',
          '192.0.2.0/24\n2001:db8::/32',
        )}
      </div>
    </details>
  )
}
