import { useRef, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { count, plural } from '../../words.ts'
import type { Exploration } from '../access.ts'
import type { Box, Clause } from './clause.ts'
import { clauseWords } from './clause-words.ts'
import { ZoomToMatches } from './zoom-to-matches.tsx'

/** The number of rows that match, a zoom to them, the clauses of the filter, and its text, which can be edited. */
export function FilterBar({
  exploration,
  filter,
  clauses,
  matched,
  error,
  isInvalid,
  canZoom,
  onClauses,
  onFilter,
  onZoom,
}: {
  exploration: Exploration
  /** The filter in the address, which may be invalid. */
  filter: string
  clauses: Clause[]
  matched: number | null | undefined
  error: unknown
  isInvalid: boolean
  /** Whether there is a map that can be moved now. */
  canZoom: boolean
  onClauses: (clauses: Clause[]) => void
  onFilter: (filter: string) => void
  onZoom: (box: Box) => void
}) {
  const { dataset, access } = exploration
  const [isEditing, setIsEditing] = useState(false)
  const status = useRef<HTMLParagraphElement>(null)
  const total = plural(dataset.rows, 'row')
  const words =
    access !== 'all' || filter === ''
      ? total
      : isInvalid
        ? `The filter is not valid: ${exploration.filter === '' ? 'all rows are' : 'the last valid one is'} shown`
        : matched === undefined
          ? `${error ? 'An unknown number' : 'Counting'} of ${total}`
          : `${matched === null ? 'Many' : count(matched)} of ${total}`
  // While rows are counted the button stays, so that the bar does not jump with every change of the filter.
  const hasZoom = access === 'all' && filter !== '' && dataset.bbox !== null && !error && matched !== 0
  // The button that was pressed goes away with what it removes.
  const keepFocus = () => status.current?.focus({ preventScroll: true })
  return (
    <div className="filter-bar">
      <p
        ref={status}
        className="filter-count"
        role="status"
        tabIndex={-1}
        data-matched={matched ?? undefined}
      >
        {words}
      </p>
      {hasZoom && (
        <ZoomToMatches
          // The editor below has the filter as its key too, and keys of siblings must differ.
          key={`zoom ${filter}`}
          exploration={exploration}
          isDisabled={!canZoom || matched === undefined}
          onZoom={onZoom}
        />
      )}
      <ul className="filter-chips" aria-label="Filter">
        {clauses.map((clause, index) => (
          <li key={clauseWords(clause)}>
            <span dir="auto" className="chip-words">
              {clauseWords(clause)}
            </span>
            <button
              type="button"
              aria-label={`Remove ${clauseWords(clause)}`}
              onClick={() => {
                onClauses(clauses.filter((_, one) => one !== index))
                keepFocus()
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      {clauses.length > 0 && (
        <button
          type="button"
          className="button small quiet"
          onClick={() => {
            onFilter('')
            keepFocus()
          }}
        >
          Clear
        </button>
      )}
      {access === 'all' && (
        <button
          type="button"
          className="button small"
          aria-expanded={isEditing}
          onClick={() => setIsEditing(!isEditing)}
        >
          Edit as CQL2
        </button>
      )}
      {error !== null && filter !== '' && <ProblemNote error={error} />}
      {isEditing && <FilterEditor key={filter} filter={filter} onApply={onFilter} />}
    </div>
  )
}

function FilterEditor({ filter, onApply }: { filter: string; onApply: (filter: string) => void }) {
  const [draft, setDraft] = useState(filter)
  return (
    <form
      className="filter-editor"
      onSubmit={(event) => {
        event.preventDefault()
        onApply(draft.trim())
      }}
    >
      <textarea
        aria-label="Filter in CQL2"
        className="mono"
        rows={3}
        spellCheck={false}
        value={draft}
        placeholder="mag >= 4.5 AND net IN ('us', 'ak')"
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onApply(draft.trim())
        }}
      />
      <button type="submit" className="button primary small" disabled={draft.trim() === filter}>
        Apply
      </button>
    </form>
  )
}
