import '../../styles/table.css'
import { useVirtualizer } from '@tanstack/react-virtual'
import type { Feature } from '@wayleave/client'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { Skeleton } from '../../components/page/skeleton.tsx'
import { exactText } from '../../datasets/cell-text.ts'
import type { Exploration } from '../access.ts'
import { picked } from '../charts/picked.ts'
import type { Clause } from '../filter/clause.ts'
import { restricts } from '../filter/column-controls.tsx'
import { clauseOfValue } from '../filter/value-clause.ts'
import type { Pointing } from '../pointing.ts'
import type { Selection } from '../selection.ts'
import { DataRow } from './data-row.tsx'
import { HeadFilter } from './head-filter.tsx'
import { SortHead } from './sort-head.tsx'
import { type ColumnLayout, useColumnLayout } from './use-column-layout.ts'
import { useCopiedCell } from './use-copied-cell.ts'
import { useRowFocus } from './use-row-focus.ts'
import { type Rows, useRows } from './use-rows.ts'

const ROW_PX = 32
/** Rows above and below the visible ones that are in the page already. */
const MARGIN_ROWS = 12

interface Props {
  exploration: Exploration
  /** The columns to show. */
  names: string[]
  sort: string
  onSort: (sort: string) => void
  matched: number | null | undefined
  clauses: Clause[]
  onClauses: (clauses: Clause[]) => void
  pointing: Pointing
  selection: Selection
}

/** The column whose filter is open, and where its button is. */
interface OpenFilter {
  name: string
  head: DOMRect
}

/** All rows that match the filter. Only the visible ones are in the page; more are loaded near the end. */
export function RowTable(props: Props) {
  const { exploration, sort, clauses, onClauses } = props
  const loaded = useRows(exploration, sort)
  const [open, setOpen] = useState<OpenFilter | null>(null)
  const { rows } = loaded
  if (loaded.error && !rows) return <ProblemNote error={loaded.error} retry={loaded.retry} />
  if (!rows) return <Skeleton lines={10} />
  const isLocked = exploration.access !== 'all'
  if (rows.length === 0 && isLocked) return <p className="empty">There is no free sample.</p>
  return (
    <>
      <VirtualRows {...props} loaded={loaded} rows={rows} onFilter={isLocked ? null : setOpen} />
      {loaded.moreError !== null && <ProblemNote error={loaded.moreError} retry={loaded.loadMore} />}
      {open && (
        <HeadFilter
          key={open.name}
          exploration={exploration}
          {...open}
          clauses={clauses}
          onClauses={onClauses}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  )
}

function VirtualRows({
  loaded,
  rows,
  exploration,
  names: shown,
  sort,
  onSort,
  matched,
  clauses,
  onClauses,
  onFilter,
  pointing,
  selection,
}: Props & {
  loaded: Rows
  rows: Feature[]
  /** Opens the filter of a column; null if the rows cannot be filtered. */
  onFilter: ((open: OpenFilter) => void) | null
}) {
  const place = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_PX,
    overscan: MARGIN_ROWS,
    // The rows begin below the head, which stays in view.
    scrollPaddingEnd: ROW_PX,
  })
  const items = virtual.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = (items.at(-1)?.index ?? -1) + 1
  const types = new Map(exploration.dataset.columns.map(({ name, type }) => [name, type]))
  const layout = useColumnLayout(shown, rows, types)
  const { names, widths } = layout
  const isNearEnd = last >= rows.length - MARGIN_ROWS

  useEffect(() => {
    if (isNearEnd && loaded.hasMore) loaded.loadMore()
  }, [isNearEnd, loaded.hasMore, rows.length])

  const onSelect = (index: number) => selection.select(String(rows[index]!.id), 'table')
  const { focused, setFocused, onKeyDown } = useRowFocus(virtual, rows.length, onSelect)
  const cell = useCopiedCell(names.length, (column) => exactText(rows[focused]?.properties[names[column]!]))

  const onPick = onFilter
    ? (clause: Clause) => onClauses(picked(clauses, [clause], false, exploration.dataset))
    : undefined
  /** Returns whether the key was used. */
  const onPickKey = (event: KeyboardEvent): boolean => {
    const name = cell.column === null ? undefined : names[cell.column]
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
    if (event.key.toLowerCase() !== 'f' || !isPlain || name === undefined) return false
    const clause = clauseOfValue(name, types.get(name), rows[focused]?.properties[name])
    if (clause) onPick?.(clause)
    return true
  }

  // Other rows begin at the top. The table stays in the page, so that the head that sorted them keeps the focus.
  useEffect(() => {
    virtual.scrollToOffset(0)
    setFocused(0)
  }, [exploration.filter, sort])

  // A feature that was selected on the map is scrolled to if it is among the loaded rows.
  useEffect(() => {
    if (selection.from !== 'map' || selection.id === null) return
    const index = rows.findIndex(({ id }) => String(id) === selection.id)
    if (index >= 0) virtual.scrollToIndex(index)
  }, [selection.id, selection.from, rows[0]])

  // The row that the Tab key reaches: the focused one, or another if it was scrolled away.
  const reachable = focused >= first && focused < last ? focused : first
  const total = matched ?? exploration.dataset.rows
  const isSample = exploration.access !== 'all'
  return (
    <section
      ref={place}
      className="rows"
      aria-label="Rows"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
      tabIndex={0}
      onPointerLeave={() => pointing.point(null)}
    >
      <table
        className="data"
        aria-rowcount={isSample ? rows.length : total + 1}
        aria-label="Rows"
        // Browsers ignore the widths of columns in a table without a width.
        style={{ width: `${[...widths.values()].reduce((sum, width) => sum + width, 0)}rem` }}
      >
        <Head
          layout={layout}
          types={types}
          sort={sort}
          onSort={isSample ? null : onSort}
          clauses={clauses}
          onFilter={onFilter}
        />
        <tbody onKeyDown={(event) => cell.onKey(event) || onPickKey(event) || onKeyDown(event)}>
          <Space rows={first} columns={names.length} />
          {rows.slice(first, last).map((row, offset) => (
            <DataRow
              key={String(row.id)}
              row={row}
              index={first + offset}
              types={types}
              layout={layout}
              current={first + offset === focused ? cell.column : null}
              onCurrent={cell.setColumn}
              onCopy={cell.copy}
              isFocusable={first + offset === reachable}
              isSelected={selection.id === String(row.id)}
              pointing={pointing}
              onFocus={() => setFocused(first + offset)}
              onSelect={() => onSelect(first + offset)}
              onPick={onPick}
            />
          ))}
          <Space rows={rows.length - last} columns={names.length} />
        </tbody>
      </table>
      {rows.length === 0 && <NoRows onClear={clauses.length > 0 ? () => onClauses([]) : null} />}
      <span className="copied" role="status">
        {cell.message}
      </span>
    </section>
  )
}

function NoRows({ onClear }: { onClear: (() => void) | null }) {
  const clear = () => {
    onClear?.()
    // The button goes away with the filter.
    document.getElementById('explorer-main')?.focus({ preventScroll: true })
  }
  return (
    <div className="empty">
      <p>No row matches the filter.</p>
      {onClear && (
        <button type="button" className="button small" onClick={clear}>
          Clear the filter
        </button>
      )}
    </div>
  )
}

/** The columns with their widths, and their heads. */
function Head({
  layout,
  types,
  sort,
  onSort,
  clauses,
  onFilter,
}: {
  layout: ColumnLayout
  types: ReadonlyMap<string, string>
  sort: string
  /** Null if the rows cannot be sorted. */
  onSort: ((sort: string) => void) | null
  clauses: readonly Clause[]
  onFilter: ((open: OpenFilter) => void) | null
}) {
  const { names, widths } = layout
  return (
    <>
      <colgroup>
        {names.map((name) => (
          <col key={name} style={{ width: `${widths.get(name)!}rem` }} />
        ))}
      </colgroup>
      <thead>
        <tr aria-rowindex={1}>
          {names.map((name) => (
            <SortHead
              key={name}
              name={name}
              type={types.get(name)}
              sort={sort}
              onSort={types.get(name) === 'json' ? null : onSort}
              isFiltered={clauses.some((clause) => restricts(clause, name))}
              onFilter={onFilter && types.get(name) !== 'json' ? (head) => onFilter({ name, head }) : null}
              layout={layout}
            />
          ))}
        </tr>
      </thead>
    </>
  )
}

/** The height of rows that are not in the page. */
function Space({ rows, columns }: { rows: number; columns: number }) {
  if (rows === 0) return null
  return (
    <tr style={{ height: rows * ROW_PX }}>
      <td colSpan={columns} />
    </tr>
  )
}
