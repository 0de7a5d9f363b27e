import { UPDATE_FREQUENCIES } from '@wayleave/contract/update-frequencies'
import { Field } from '../components/form/field.tsx'
import { updateWords } from '../words.ts'
import type { Description } from './description-form.ts'
import { LicenseField } from './license-field.tsx'

interface Props {
  value: Description
  onChange: (value: Description) => void
}

export function TitleField({ value, onChange }: Props) {
  return (
    <Field label="Title">
      {(props) => (
        <input
          {...props}
          maxLength={200}
          value={value.title}
          onChange={(event) => onChange({ ...value, title: event.target.value })}
        />
      )}
    </Field>
  )
}

/** What a dataset says about itself beside its title. */
export function DescriptionFields({ value, onChange }: Props) {
  const set = (name: keyof Description) => (event: { target: { value: string } }) =>
    onChange({ ...value, [name]: event.target.value })
  return (
    <>
      <Field label="Description" help="In Markdown.">
        {(props) => (
          <textarea
            {...props}
            rows={4}
            maxLength={10_000}
            value={value.description}
            onChange={set('description')}
          />
        )}
      </Field>
      <div className="inline-form">
        <LicenseField value={value.license} onChange={(license) => onChange({ ...value, license })} />
        <Field label="Source to name">
          {(props) => (
            <input {...props} maxLength={1000} value={value.attribution} onChange={set('attribution')} />
          )}
        </Field>
      </div>
      <div className="inline-form">
        <Field label="Contact" help="An email address, a web address or a name.">
          {(props) => <input {...props} maxLength={500} value={value.contact} onChange={set('contact')} />}
        </Field>
        <Field label="Updated">
          {(props) => (
            <select {...props} value={value.updateFrequency} onChange={set('updateFrequency')}>
              {UPDATE_FREQUENCIES.map((frequency) => (
                <option key={frequency} value={frequency}>
                  {updateWords(frequency) ?? 'Not stated'}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <Field label="Citation" help="How to cite the dataset.">
        {(props) => (
          <textarea {...props} rows={2} maxLength={2000} value={value.citation} onChange={set('citation')} />
        )}
      </Field>
      <div className="inline-form">
        <Field label="Keywords, separated by commas">
          {(props) => <input {...props} maxLength={2000} value={value.keywords} onChange={set('keywords')} />}
        </Field>
        <Field label="Credits a download">
          {(props) => (
            <input
              {...props}
              type="number"
              min="0"
              max="1000000"
              value={value.credits}
              onChange={set('credits')}
            />
          )}
        </Field>
      </div>
    </>
  )
}
