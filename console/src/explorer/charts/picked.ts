import type { Exploration } from '../access.ts'
import { type Clause, clauseText, columnOf } from '../filter/clause.ts'

/** The clauses after a click on a group: it replaces what was said about its columns; a second click removes it. */
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
    return [...others, toggled(before, first.values[0]!)].filter(
      (clause) => clause.kind !== 'values' || clause.values.length > 0 || clause.withNull,
    )
  return [...others, ...chosen]
}

function toggled(clause: Extract<Clause, { kind: 'values' }>, value: string | number | boolean): Clause {
  const values = clause.values.includes(value)
    ? clause.values.filter((one) => one !== value)
    : [...clause.values, value]
  return { ...clause, values }
}
