import type { InspectedColumnRecord } from '@wayleave/contract/records'
import { Scroll } from '../components/scroll.tsx'
import { count, plural } from '../words.ts'
import {
  asFound,
  COLUMN_TYPES,
  type ColumnWords,
  type Correction,
  type Corrections,
  changed,
  FORMATS_OF,
} from './corrections.ts'

const WORDS = [
  ['title', 'Title', 200],
  ['unit', 'Unit', 50],
  ['description', 'Description', 2000],
] as const

/** The columns of an inspected file, whose names, types and formats can be corrected. */
export function ColumnCorrections({
  columns,
  value,
  words,
  onChange,
}: {
  columns: readonly InspectedColumnRecord[]
  /** What is said about the columns already, by their names in the file. */
  words: ReadonlyMap<string, Partial<ColumnWords>>
  value: Corrections
  onChange: (value: Corrections) => void
}) {
  return (
    <Scroll label="Columns of the file">
      <table className="column-corrections">
        <thead>
          <tr>
            {['In the file', 'Name', 'Type', 'Written as', 'Publish', 'About'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => (
            <CorrectedColumn
              key={column.source}
              column={column}
              value={value[column.source] ?? asFound(column, words.get(column.source))}
              onChange={(correction) => onChange({ ...value, [column.source]: correction })}
            />
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function CorrectedColumn({
  column,
  value,
  onChange,
}: {
  column: InspectedColumnRecord
  value: Correction
  onChange: (value: Correction) => void
}) {
  const { source } = column
  const set = (change: Partial<Correction>) => onChange(changed(value, change))
  const formats = FORMATS_OF[value.type]
  return (
    <tr>
      <th scope="row">
        <code dir="auto">{source}</code>
      </th>
      <td>
        <input
          aria-label={`Name of ${source}`}
          maxLength={200}
          value={value.name}
          onChange={(event) => set({ name: event.target.value })}
        />
        <details>
          <summary className="small">Title, unit, description</summary>
          <div className="stack-small">
            {WORDS.map(([name, label, maxLength]) => (
              <input
                key={name}
                aria-label={`${label} of ${source}`}
                placeholder={label}
                maxLength={maxLength}
                value={value[name]}
                onChange={(event) => set({ [name]: event.target.value })}
              />
            ))}
          </div>
        </details>
      </td>
      <td>
        <select
          aria-label={`Type of ${source}`}
          value={value.type}
          onChange={(event) => set({ type: event.target.value as Correction['type'] })}
        >
          {COLUMN_TYPES.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </td>
      <td>
        {formats && (
          <select
            aria-label={`How ${source} is written`}
            value={value.format}
            onChange={(event) => set({ format: event.target.value as Correction['format'] })}
          >
            <option value="">recognised</option>
            {formats.map((format) => (
              <option key={format} value={format}>
                {format.replace('decimal-', 'decimal ')}
              </option>
            ))}
          </select>
        )}
      </td>
      <td>
        <input
          type="checkbox"
          aria-label={`Publish ${source}`}
          checked={!value.hidden}
          onChange={(event) => set({ hidden: !event.target.checked })}
        />
      </td>
      <td className="small">
        <AboutColumn column={column} />
      </td>
    </tr>
  )
}

/** How many rows have no value, and how many values are not of the type that most of them have. */
function AboutColumn({ column: { empty, likely } }: { column: InspectedColumnRecord }) {
  return (
    <>
      {empty > 0 && <div className="soft">{count(empty)} empty</div>}
      {likely && (
        <div>
          <strong>{plural(likely.disagreeing, 'value')}</strong>{' '}
          {likely.disagreeing === 1 ? 'is not of type ' : 'are not of type '}
          {likely.type}, as the others are:{' '}
          {likely.examples.map(({ row, value }, i) => (
            <span key={row}>
              {i > 0 && ', '}
              <q dir="auto">{value}</q> in row {count(row)}
            </span>
          ))}
          {likely.disagreeing > likely.examples.length && ' …'}
        </div>
      )}
    </>
  )
}
