import { LICENSES, licenseLink } from '@wayleave/contract/licenses'
import { useId } from 'react'
import { Field } from '../components/form/field.tsx'

/** Chooses a licence of the SPDX list, or takes any other name or address. */
export function LicenseField({ value, onChange }: { value: string; onChange: (license: string) => void }) {
  const list = useId()
  const link = licenseLink(value)
  return (
    <Field
      label="License"
      help={
        link ? (
          <a href={link} target="_blank" rel="noreferrer">
            Read the license
          </a>
        ) : (
          'An SPDX identifier such as CC-BY-4.0, an address or a name.'
        )
      }
    >
      {(props) => (
        <>
          <input
            {...props}
            list={list}
            maxLength={500}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={list}>
            {Object.entries(LICENSES).map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  )
}
