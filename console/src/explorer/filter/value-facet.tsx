import { count } from '../../words.ts'
import type { Clause } from './clause.ts'
import type { Value } from './cql2-text.ts'
import type { Facet } from './facet.ts'

type ValuesClause = Extract<Clause, { kind: 'values' }>

/** Check boxes for the most frequent values of a column, each with its number of rows. */
export function ValueFacet({
  column,
  facet,
  clause,
  isDisabled,
  onChange,
}: {
  column: string
  facet: Facet
  clause: ValuesClause | null
  isDisabled: boolean
  onChange: (clause: ValuesClause | null) => void
}) {
  const chosen = clause?.values ?? []
  const withNull = clause?.withNull ?? false
  const listed = facet.values ?? []
  const max = Math.max(1, facet.nulls, ...listed.map(({ count }) => count))
  // Chosen values come first. One that is not among the most frequent has a count that is not known here, unless all
  // values are listed.
  const hasOthers = (facet.others ?? 0) > 0
  const countOf = (value: Value) => listed.find((one) => one.value === value)?.count ?? (hasOthers ? null : 0)
  const rows = [
    ...chosen.map((value) => ({ value, count: countOf(value) })),
    ...listed.filter(({ value }) => !chosen.includes(value)),
  ]
  const change = (values: Value[], withNull: boolean) =>
    onChange(values.length > 0 || withNull ? { kind: 'values', column, values, withNull } : null)
  const toggle = (value: Value) =>
    change(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value], withNull)
  return (
    <div className="facet-values">
      {rows.map(({ value, count }) => (
        <Choice
          key={`${typeof value}${value}`}
          label={value === '' ? '(empty)' : String(value)}
          count={count}
          share={(count ?? 0) / max}
          isChecked={chosen.includes(value)}
          isDisabled={isDisabled}
          onToggle={() => toggle(value)}
        />
      ))}
      {(facet.nulls > 0 || withNull) && (
        <Choice
          label="(no value)"
          count={facet.nulls}
          share={facet.nulls / max}
          isChecked={withNull}
          isDisabled={isDisabled}
          onToggle={() => change(chosen, !withNull)}
        />
      )}
      {(facet.others ?? 0) > 0 && <p className="small soft">{count(facet.others!)} rows with other values</p>}
    </div>
  )
}

function Choice({
  label,
  count: rows,
  share,
  isChecked,
  isDisabled,
  onToggle,
}: {
  label: string
  /** Null if it is not known. */
  count: number | null
  share: number
  isChecked: boolean
  isDisabled: boolean
  onToggle: () => void
}) {
  return (
    <label className="facet-value">
      <span className="facet-bar" style={{ width: `${share * 100}%` }} aria-hidden="true" />
      <input type="checkbox" checked={isChecked} disabled={isDisabled} onChange={onToggle} />
      <span className="facet-label" dir="auto">
        {label}
      </span>
      <span className="facet-count">{rows !== null && count(rows)}</span>
    </label>
  )
}
