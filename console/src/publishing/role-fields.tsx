import type { InspectedColumnRecord } from '@wayleave/contract/records'
import { Field } from '../components/form/field.tsx'
import { type Roles, withRole } from './corrections.ts'

const COLUMNS = [
  ['idColumn', 'Ids are in'],
  ['timeColumn', 'Times are in'],
  ['longitude', 'Longitudes or x are in'],
  ['latitude', 'Latitudes or y are in'],
  ['geometryColumn', 'Geometries are in'],
] as const

/** Which columns of an inspected file are the id, the time and the place, and its CRS. */
export function RoleFields<T extends Roles>({
  columns,
  value,
  onChange,
}: {
  columns: readonly InspectedColumnRecord[]
  value: T
  onChange: (value: T) => void
}) {
  const names = columns.map(({ source }) => source)
  const set = (name: keyof Roles, text: string) => onChange(withRole(value, name, text))
  return (
    <div className="inline-form">
      {COLUMNS.map(([name, label]) => (
        <Field key={name} label={label}>
          {(props) => (
            <select {...props} value={value[name]} onChange={(event) => set(name, event.target.value)}>
              <option value="">as found</option>
              {/* A column of coordinates or geometries is no longer one of the columns. */}
              {[...new Set([...names, value[name]])].filter(Boolean).map((source) => (
                <option key={source}>{source}</option>
              ))}
            </select>
          )}
        </Field>
      ))}
      <Field label="CRS of the file">
        {(props) => (
          <input
            {...props}
            placeholder="as found"
            value={value.crs}
            onChange={(event) => set('crs', event.target.value)}
          />
        )}
      </Field>
    </div>
  )
}
