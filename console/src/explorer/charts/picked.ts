import type { Exploration } from '../access.ts'
import { type Clause, clauseText, columnOf } from '../filter/clause.ts'
import type { Mark } from './chart-data.ts'

/** The clauses after a click on a group of a chart or an entry of a legend: it replaces what was said about its columns; a second click removes it. */
export function picked(
  clauses: Clause[],
  chosen: Clause[],
  isAdded: boolean,
  { columns }: Exploration['dataset'],
): Clause[] {
  const types = new Map(columns.map(({ name, type }) => [name, type as string]))
  const texts = new Set(clauses.map((clause) => clauseText(clause, types)))
  const isChosen = chosen.every((clause) => texts.has(clauseText(clause, types)))
  const names = new Set(chosen.map(columnOf))
  const others = clauses.filter((clause) => !names.has(columnOf(clause)))
  if (isChosen) return others
  const [first] = chosen
  const before = clauses.find((clause) => columnOf(clause) === (first && columnOf(first)))
  if (isAdded && chosen.length === 1 && first?.kind === 'values' && before?.kind === 'values')
    return [...others, toggled(before, first)].filter(
      (clause) => clause.kind !== 'values' || clause.values.length > 0 || clause.withNull,
    )
  return [...others, ...chosen]
}

type ValuesClause = Extract<Clause, { kind: 'values' }>

/** Adds the one value of `chosen`, or the rows without a value; removes it if it is there. */
function toggled(clause: ValuesClause, { values: [value] }: ValuesClause): ValuesClause {
  if (value === undefined) return { ...clause, withNull: !clause.withNull }
  const values = clause.values.includes(value)
    ? clause.values.filter((one) => one !== value)
    : [...clause.values, value]
  return { ...clause, values }
}

/** The range from one mark of an axis to another, in either order; null if one of them is not a range of `column`. */
export function rangeBetween(one: Mark, other: Mark, column: string): Clause | null {
  const [first, last] = (one.from ?? 0) <= (other.from ?? 0) ? [one, other] : [other, one]
  const [low, high] = [first, last].map((mark) =>
    mark.clauses?.find((clause) => clause.kind === 'range' && clause.column === column),
  )
  if (low?.kind !== 'range' || high?.kind !== 'range') return null
  return { kind: 'range', column, from: low.from, to: high.to, isBelow: high.isBelow }
}
