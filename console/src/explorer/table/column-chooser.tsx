import { count } from '../../words.ts'

/** Check boxes for the columns of the table. At least one column stays. */
export function ColumnChooser({
  columns,
  hidden,
  onHide,
}: {
  columns: string[]
  hidden: string[]
  onHide: (hidden: string[]) => void
}) {
  const shown = columns.length - hidden.filter((name) => columns.includes(name)).length
  const toggle = (name: string) =>
    onHide(hidden.includes(name) ? hidden.filter((one) => one !== name) : [...hidden, name])
  return (
    <details className="menu">
      <summary className="button small">
        Columns{' '}
        <span className="soft">
          {count(shown)} of {count(columns.length)}
        </span>
      </summary>
      <div className="menu-body">
        <button
          type="button"
          className="button small"
          onClick={() => onHide([])}
          disabled={shown === columns.length}
        >
          Show all
        </button>
        {columns.map((name) => (
          <label key={name} className="choice">
            <input
              type="checkbox"
              checked={!hidden.includes(name)}
              disabled={shown === 1 && !hidden.includes(name)}
              onChange={() => toggle(name)}
            />
            <span dir="auto">{name}</span>
          </label>
        ))}
      </div>
    </details>
  )
}
