import { Field } from '../components/form/field.tsx'
import type { ReadingChoices } from './reading-choices.ts'

export function ReadingFields({
  value,
  onChange,
  hasIds = true,
}: {
  value: ReadingChoices
  onChange: (value: ReadingChoices) => void
  /** False if the column of the ids has a field elsewhere in the form. */
  hasIds?: boolean
}) {
  type BoxName = 'isTable' | 'skipInvalid' | 'allowInaccurateCrs'
  type TextName = Exclude<keyof ReadingChoices, BoxName>
  const text = (name: TextName, label: string, help?: string) => (
    <Field label={label} help={help}>
      {(props) => (
        <input
          {...props}
          value={value[name]}
          onChange={(event) => onChange({ ...value, [name]: event.target.value })}
        />
      )}
    </Field>
  )
  const lines = (name: 'skipLines' | 'headerLines', label: string, help: string, max: number) => (
    <Field label={label} help={help}>
      {(props) => (
        <input
          {...props}
          type="number"
          min="1"
          max={max}
          value={value[name]}
          onChange={(event) => onChange({ ...value, [name]: event.target.value })}
        />
      )}
    </Field>
  )
  const choice = (name: BoxName, label: string) => (
    <label className="choice">
      <input
        type="checkbox"
        checked={value[name]}
        onChange={(event) => onChange({ ...value, [name]: event.target.checked })}
      />
      {label}
    </label>
  )
  return (
    <div className="stack padded-top">
      <div className="inline-form">
        {text('layer', 'Layer or sheet', 'Needed if the file has several.')}
        {text('crs', 'CRS', 'If the file does not say, such as EPSG:25832.')}
      </div>
      <div className="inline-form">
        {text('longitude', 'Column of longitudes', 'Or x. Only if it is not found by its name.')}
        {text('latitude', 'Column of latitudes', 'Or y.')}
      </div>
      <div className="inline-form">
        {text('geometryColumn', 'Column of geometries', 'WKT, WKB, GeoJSON or points as text.')}
      </div>
      <div className="inline-form">
        {hasIds && text('idColumn', 'Column of ids')}
        {text('timeColumn', 'Column of times')}
      </div>
      <div className="inline-form">
        {text('encoding', 'Encoding', 'If letters are wrong, such as windows-1251.')}
        {text('types', 'Column types', 'Such as zip=text, opened=date.')}
      </div>
      <div className="inline-form">
        {lines('skipLines', 'Lines above the table', 'Such as a title. They are left out.', 100)}
        {lines('headerLines', 'Lines of column names', 'Their texts are joined.', 10)}
      </div>
      <div className="inline-form">
        {text('format', 'Format', 'Such as csv or geojson, if the file does not show it.')}
      </div>
      {choice('isTable', 'Publish a table without geometry')}
      {choice('skipInvalid', 'Publish the valid rows, and leave the others out')}
      {choice('allowInaccurateCrs', 'Accept coordinates that may be more than 20 m off')}
    </div>
  )
}
