import type { DatasetDetails } from '@wayleave/contract/records'
import { useMemo, useState } from 'react'
import type { Exploration } from '../access.ts'
import { ColumnName } from '../column-name.tsx'
import { tellingColumns } from '../worth.ts'
import { type Box, type Clause, columnOf } from './clause.ts'
import { ColumnControls, type ReplaceClause, replaceIn, restricts } from './column-controls.tsx'
import { type Column, type Facet, isCountable } from './facet.ts'
import { TextSearch } from './text-search.tsx'
import { useFacets } from './use-facets.ts'

/** The filter's controls: a search in all texts, the map's view, and a facet for each column. */
export function FilterPanel({
  exploration,
  clauses,
  box,
  onChange,
}: {
  exploration: Exploration
  clauses: Clause[]
  /** What the map shows now. */
  box: Box | null
  onChange: (clauses: Clause[]) => void
}) {
  const { dataset, access } = exploration
  const isDisabled = access !== 'all'
  const columns = useMemo(() => orderedColumns(dataset), [dataset])
  const [open, setOpen] = useState(() => openAtFirst(exploration, clauses))
  const counted = columns.filter((column) => open.has(column.name) && isCountable(column, dataset))
  const facets = useFacets(
    exploration,
    clauses,
    counted.map(({ name }) => name),
  )
  const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => name)
  const search = clauses.find((clause) => clause.kind === 'text' && clause.columns.length === texts.length)
  const replace = replaceIn(clauses, onChange)
  const toggle = (name: string, isOpen: boolean) => {
    const changed = new Set(open)
    if (isOpen) changed.add(name)
    else changed.delete(name)
    setOpen(changed)
  }
  return (
    <div className="filter-panel">
      {texts.length > 1 && (
        <TextSearch
          label="Search all texts"
          value={search?.kind === 'text' ? search.text : ''}
          isDisabled={isDisabled}
          onChange={(text) =>
            replace((clause) => clause === search, text ? { kind: 'text', columns: texts, text } : null)
          }
        />
      )}
      {dataset.bbox && (
        <ViewChoice
          isChecked={clauses.some(({ kind }) => kind === 'box')}
          isDisabled={isDisabled || box === null}
          onToggle={(isOn) =>
            replace(({ kind }) => kind === 'box', isOn ? { kind: 'box', box: roundedBox(box!) } : null)
          }
        />
      )}
      {columns.map((column) => (
        <ColumnFacet
          key={column.name}
          column={column}
          isOpen={open.has(column.name)}
          isDisabled={isDisabled}
          isCountable={isCountable(column, dataset)}
          clauses={clauses}
          facet={facets.get(column.name)}
          onToggle={(isOpen) => toggle(column.name, isOpen)}
          onReplace={replace}
        />
      ))}
    </div>
  )
}

function ViewChoice({
  isChecked,
  isDisabled,
  onToggle,
}: {
  isChecked: boolean
  isDisabled: boolean
  onToggle: (isOn: boolean) => void
}) {
  return (
    <label className="choice small">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onToggle(event.target.checked)}
      />
      Only within this map view
    </label>
  )
}

function ColumnFacet({
  column,
  isOpen,
  isDisabled,
  isCountable,
  clauses,
  facet,
  onToggle,
  onReplace,
}: {
  column: Column
  isOpen: boolean
  isDisabled: boolean
  isCountable: boolean
  clauses: Clause[]
  facet: Facet | undefined
  onToggle: (isOpen: boolean) => void
  onReplace: ReplaceClause
}) {
  const isFiltered = clauses.some((clause) => restricts(clause, column.name))
  return (
    <details className="facet" open={isOpen} onToggle={(event) => onToggle(event.currentTarget.open)}>
      <summary>
        <ColumnName column={column} />
        {isFiltered && <span className="facet-dot" title="Filtered" />}
      </summary>
      {isOpen && (
        <div className="stack-small">
          <ColumnControls
            column={column}
            isDisabled={isDisabled}
            isCountable={isCountable}
            clauses={clauses}
            facet={facet}
            onReplace={onReplace}
          />
        </div>
      )}
    </details>
  )
}

/** The columns that tell most, then the others as the dataset has them. */
function orderedColumns(dataset: DatasetDetails): Column[] {
  const first = tellingColumns(dataset)
  return [...first, ...dataset.columns.filter((one) => one.type !== 'json' && !first.includes(one))]
}

/** The columns that tell most, and those that the filter names. */
function openAtFirst({ dataset }: Exploration, clauses: Clause[]): Set<string> {
  const filtered = clauses.map(columnOf).filter((name) => name !== null)
  return new Set([...tellingColumns(dataset).map(({ name }) => name), ...filtered])
}

/** Five digits are about a metre. */
function roundedBox(box: Box): Box {
  return box.map((value) => Number(value.toFixed(5))) as Box
}
