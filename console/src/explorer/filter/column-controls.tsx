import { type Clause, columnOf } from './clause.ts'
import type { Column, Facet } from './facet.ts'
import { RangeFacet } from './range-facet.tsx'
import { TextSearch } from './text-search.tsx'
import { ValueFacet } from './value-facet.tsx'

/** Puts a clause in the place of those that it replaces; null removes them. */
export type ReplaceClause = (isOld: (clause: Clause) => boolean, clause: Clause | null) => void

export function replaceIn(clauses: readonly Clause[], onChange: (clauses: Clause[]) => void): ReplaceClause {
  return (isOld, clause) => {
    const index = clauses.findIndex(isOld)
    const others = clauses.filter((one) => !isOld(one))
    if (clause) others.splice(index === -1 ? others.length : index, 0, clause)
    onChange(others)
  }
}

function isSearchIn(clause: Clause, name: string): boolean {
  return clause.kind === 'text' && clause.columns.length === 1 && clause.columns[0] === name
}

/** Whether a clause is about one column, and about this one. */
export function restricts(clause: Clause, name: string): boolean {
  return columnOf(clause) === name || isSearchIn(clause, name)
}

/** What filters by one column: a search in its texts, its values, or the range of its numbers and times. */
export function ColumnControls({
  column: { name, type },
  isDisabled,
  isCountable,
  clauses,
  facet,
  onReplace,
}: {
  column: Column
  isDisabled: boolean
  isCountable: boolean
  clauses: readonly Clause[]
  facet: Facet | undefined
  onReplace: ReplaceClause
}) {
  const own = clauses.find((clause) => columnOf(clause) === name) ?? null
  const isSearch = (clause: Clause) => isSearchIn(clause, name)
  const search = clauses.find(isSearch)
  const change = (clause: Clause | null) => onReplace((one) => columnOf(one) === name, clause)
  return (
    <>
      {type === 'text' && (
        <TextSearch
          label={`Search ${name}`}
          value={search?.kind === 'text' ? search.text : ''}
          isDisabled={isDisabled}
          onChange={(text) => onReplace(isSearch, text ? { kind: 'text', columns: [name], text } : null)}
        />
      )}
      {isCountable && facet?.values && (
        <ValueFacet
          column={name}
          facet={facet}
          clause={own?.kind === 'values' ? own : null}
          isDisabled={isDisabled}
          onChange={change}
        />
      )}
      {isCountable && facet?.histogram && (
        <RangeFacet
          column={name}
          type={type}
          facet={facet}
          clause={own?.kind === 'range' ? own : null}
          isDisabled={isDisabled}
          onChange={change}
        />
      )}
    </>
  )
}
