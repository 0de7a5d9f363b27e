import { Scroll } from '../components/scroll.tsx'
import type { ColumnNotes } from './description-form.ts'

const FIELDS = [
  { field: 'title', label: 'Title', maxLength: 200 },
  { field: 'unit', label: 'Unit', maxLength: 50 },
  { field: 'description', label: 'Description', maxLength: 2000 },
] as const

/** Titles, units and descriptions of the columns. */
export function ColumnNoteFields({
  value,
  onChange,
}: {
  value: ColumnNotes
  onChange: (value: ColumnNotes) => void
}) {
  return (
    <details>
      <summary>Columns</summary>
      <Scroll label="Columns">
        <table className="column-notes">
          <thead>
            <tr>
              <th scope="col">Name</th>
              {FIELDS.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Object.entries(value).map(([name, note]) => (
              <tr key={name}>
                <th scope="row">
                  <code dir="auto">{name}</code>
                </th>
                {FIELDS.map(({ field, label, maxLength }) => (
                  <td key={field}>
                    <input
                      aria-label={`${label} of ${name}`}
                      maxLength={maxLength}
                      value={note[field]}
                      onChange={(event) =>
                        onChange({ ...value, [name]: { ...note, [field]: event.target.value } })
                      }
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  )
}
