import { plural } from '../../words.ts'
import type { Exploration } from '../access.ts'
import { picked } from '../charts/picked.ts'
import { FeatureDetails } from '../feature-details.tsx'
import type { Clause } from '../filter/clause.ts'
import { labelColumn } from '../label-column.ts'
import type { Pointing } from '../pointing.ts'
import type { Selection } from '../selection.ts'
import { ColumnChooser } from './column-chooser.tsx'
import { RowTable } from './row-table.tsx'

/** The table with its column chooser and the details of the row that was selected in it. */
export function TableTab({
  exploration,
  sort,
  hidden,
  matched,
  onSort,
  onHide,
  clauses,
  onClauses,
  pointing,
  selection,
}: {
  exploration: Exploration
  sort: string
  hidden: string[]
  matched: number | null | undefined
  onSort: (sort: string) => void
  onHide: (hidden: string[]) => void
  clauses: Clause[]
  onClauses: (clauses: Clause[]) => void
  pointing: Pointing
  selection: Selection
}) {
  const { dataset, access } = exploration
  const columns = dataset.columns.map(({ name }) => name)
  const names = columns.filter((name) => !hidden.includes(name))
  const isOpen = selection.id !== null && selection.from === 'table'
  return (
    <div className="stack-small">
      <div className="row spread">
        <p className="small soft">{tableWords(exploration, matched)}</p>
        <ColumnChooser columns={columns} hidden={hidden} onHide={onHide} />
      </div>
      <div className={isOpen ? 'table-with-details' : undefined}>
        <RowTable
          exploration={exploration}
          names={names}
          sort={access === 'all' ? sort : ''}
          onSort={onSort}
          matched={matched}
          clauses={clauses}
          onClauses={onClauses}
          pointing={pointing}
          selection={selection}
        />
        {isOpen && (
          <FeatureDetails
            id={selection.id!}
            feature={selection.feature}
            error={selection.error}
            isExcluded={selection.isExcluded}
            label={labelColumn(dataset)}
            columns={dataset.columns}
            className="card"
            onPick={
              access === 'all' ? (clause) => onClauses(picked(clauses, [clause], false, dataset)) : undefined
            }
            onClose={() => selection.select(null, 'table')}
          />
        )}
      </div>
    </div>
  )
}

function tableWords({ dataset, access }: Exploration, matched: number | null | undefined): string {
  if (access !== 'all') {
    return dataset.sample === null ? 'No free sample' : 'The free sample'
  }
  if (matched === undefined) return 'Counting'
  return matched === null ? 'Many rows' : plural(matched, 'row')
}
