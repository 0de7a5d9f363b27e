import { Field } from '../components/field.tsx'

/** A dataset's description as entered in the form. */
export interface Description {
  title: string
  description: string
  license: string
  attribution: string
  keywords: string
  credits: string
}

export function DescriptionFields({
  value,
  onChange,
}: {
  value: Description
  onChange: (value: Description) => void
}) {
  const set = (name: keyof Description) => (event: { target: { value: string } }) =>
    onChange({ ...value, [name]: event.target.value })
  return (
    <>
      <Field label="Title">
        {(props) => <input {...props} maxLength={200} value={value.title} onChange={set('title')} />}
      </Field>
      <Field label="Description">
        {(props) => (
          <textarea
            {...props}
            rows={3}
            maxLength={10_000}
            value={value.description}
            onChange={set('description')}
          />
        )}
      </Field>
      <div className="inline-form">
        <Field label="License">
          {(props) => <input {...props} maxLength={500} value={value.license} onChange={set('license')} />}
        </Field>
        <Field label="Source to name">
          {(props) => (
            <input {...props} maxLength={1000} value={value.attribution} onChange={set('attribution')} />
          )}
        </Field>
      </div>
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
