import type { PublishingSchema } from '@wayleave/contract/records'
import { Field } from '../components/form/field.tsx'

/** What becomes of a file, as entered in the form. */
export interface VersionChoices {
  note: string
  /** Empty: the file has the whole dataset. */
  mode: '' | 'append' | 'update'
  deleteMissing: boolean
  draft: boolean
  ignoreSchema: boolean
  keepsColumns: boolean
  /** In percent; empty: as before, otherwise 50. */
  maxRowDrop: string
}

export const NO_VERSION_CHOICES: VersionChoices = {
  ...{ note: '', mode: '', deleteMissing: false, draft: false, ignoreSchema: false },
  ...{ keepsColumns: false, maxRowDrop: '' },
}

/** The options of a request. */
export function versionOptions({
  note,
  mode,
  deleteMissing,
  draft,
  ignoreSchema,
}: VersionChoices): Record<string, string> {
  return {
    ...(note.trim() && { note }),
    ...(mode && { mode }),
    ...(mode === 'update' && deleteMissing && { deleteMissing: 'true' }),
    ...(draft && { draft: 'true' }),
    ...(ignoreSchema && { ignoreSchema: 'true' }),
  }
}

export function VersionFields({
  value,
  onChange,
  exists,
  isInspected,
  stored,
}: {
  value: VersionChoices
  onChange: (value: VersionChoices) => void
  /** Whether the dataset exists: then the file may have changes only. */
  exists: boolean
  isInspected: boolean
  /** The schema that the dataset has. */
  stored: PublishingSchema | null
}) {
  type Choice = 'deleteMissing' | 'draft' | 'ignoreSchema' | 'keepsColumns'
  const choice = (name: Choice, label: string) => (
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
    <>
      {exists && (
        <div className="inline-form">
          <Field label="What the file has">
            {(props) => (
              <select
                {...props}
                value={value.mode}
                onChange={(event) =>
                  onChange({ ...value, mode: event.target.value as VersionChoices['mode'] })
                }
              >
                <option value="">The whole dataset</option>
                <option value="append">New rows only</option>
                <option value="update">Changes and new rows, by id</option>
              </select>
            )}
          </Field>
          <Field label="What is new in this version">
            {(props) => (
              <input
                {...props}
                maxLength={2000}
                value={value.note}
                onChange={(event) => onChange({ ...value, note: event.target.value })}
              />
            )}
          </Field>
        </div>
      )}
      {value.mode === 'update' && choice('deleteMissing', 'Remove rows that the file does not have')}
      {isInspected && choice('keepsColumns', 'Check later versions against these columns')}
      {isInspected && (value.keepsColumns || stored !== null) && (
        <Field
          label="Rows that a version may lack, in percent"
          help="A version with fewer rows is not published unless you confirm it. 100: no limit."
        >
          {(props) => (
            <input
              {...props}
              type="number"
              min="0"
              max="100"
              step="any"
              placeholder={String((stored?.maxRowDrop ?? 0.5) * 100)}
              value={value.maxRowDrop}
              onChange={(event) => onChange({ ...value, maxRowDrop: event.target.value })}
            />
          )}
        </Field>
      )}
      {exists && choice('ignoreSchema', 'Publish although it differs from the schema')}
      {choice('draft', 'Keep it back as a draft until it is released')}
    </>
  )
}
