import '../../styles/table.css'
import { useVirtualizer } from '@tanstack/react-virtual'
import type { Feature } from '@wayleave/client'
import { useEffect, useRef } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { Skeleton } from '../../components/page/skeleton.tsx'
import { cellText, exactText } from '../../datasets/cell-text.ts'
import type { Exploration } from '../access.ts'
import { type Pointing, useIsPointedByMap } from '../pointing.ts'
import type { Selection } from '../selection.ts'
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
  pointing: Pointing
  selection: Selection
}

/** All rows that match the filter. Only the visible ones are in the page; more are loaded near the end. */
export function RowTable({ exploration, names, sort, onSort, matched, pointing, selection }: Props) {
  const loaded = useRows(exploration, sort)
  const { rows } = loaded
  if (loaded.error && !rows) return <ProblemNote error={loaded.error} retry={loaded.retry} />
  if (!rows) return <Skeleton lines={10} />
  if (rows.length === 0) {
    const isLocked = exploration.access !== 'all'
    return <p className="empty">{isLocked ? 'There is no free sample.' : 'No row matches the filter.'}</p>
  }
  return (
    <>
      <VirtualRows
        loaded={loaded}
        rows={rows}
        exploration={exploration}
        names={names}
        sort={sort}
        onSort={onSort}
        matched={matched}
        pointing={pointing}
        selection={selection}
      />
      {loaded.moreError !== null && <ProblemNote error={loaded.moreError} retry={loaded.loadMore} />}
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
  pointing,
  selection,
}: Props & { loaded: Rows; rows: Feature[] }) {
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
        <Head layout={layout} types={types} sort={sort} onSort={isSample ? null : onSort} />
        <tbody onKeyDown={(event) => cell.onKey(event) || onKeyDown(event)}>
          <Space rows={first} columns={names.length} />
          {rows.slice(first, last).map((row, offset) => (
            <Row
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
            />
          ))}
          <Space rows={rows.length - last} columns={names.length} />
        </tbody>
      </table>
      <span className="copied" role="status">
        {cell.message}
      </span>
    </section>
  )
}

/** The columns with their widths, and their heads. */
function Head({
  layout,
  types,
  sort,
  onSort,
}: {
  layout: ColumnLayout
  types: ReadonlyMap<string, string>
  sort: string
  /** Null if the rows cannot be sorted. */
  onSort: ((sort: string) => void) | null
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

function Row({
  row,
  index,
  types,
  layout,
  current,
  onCurrent,
  onCopy,
  isFocusable,
  isSelected,
  pointing,
  onFocus,
  onSelect,
}: {
  row: Feature
  index: number
  types: ReadonlyMap<string, string>
  layout: ColumnLayout
  /** The column of the current cell, if it is in this row. */
  current: number | null
  onCurrent: (column: number) => void
  onCopy: (column: number) => void
  isFocusable: boolean
  isSelected: boolean
  pointing: Pointing
  onFocus: () => void
  onSelect: () => void
}) {
  const id = String(row.id)
  const isPointed = useIsPointedByMap(pointing, id)
  return (
    <tr
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={isPointed ? 'pointed' : undefined}
      tabIndex={isFocusable ? 0 : -1}
      onFocus={onFocus}
      onClick={onSelect}
      onPointerEnter={() => pointing.point({ id, from: 'table', feature: row })}
    >
      {layout.names.map((name, column) => {
        const value = row.properties[name]
        const type = types.get(name)
        const pinnedAt = layout.pinnedAt(name)
        const text = cellText(value, type)
        const names = [
          cellClass(type, value),
          pinnedAt !== undefined && 'pinned',
          current === column && 'current',
        ]
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the arrow keys move between the cells of the focused row.
          <td
            key={name}
            className={names.filter(Boolean).join(' ') || undefined}
            dir="auto"
            title={text === String(value) ? undefined : exactText(value)}
            style={pinnedAt === undefined ? undefined : { left: `${pinnedAt}rem` }}
            onClick={() => onCurrent(column)}
          >
            {text}
            {current === column && (
              <button
                type="button"
                className="copy-cell"
                tabIndex={-1}
                title="Copy (Ctrl+C)"
                aria-label={`Copy ${name}`}
                onClick={(event) => {
                  event.stopPropagation()
                  onCopy(column)
                }}
              >
                <Icon name="copy" />
              </button>
            )}
          </td>
        )
      })}
    </tr>
  )
}

const isNumeric = (type: string | undefined) => type === 'number' || type === 'integer'

function cellClass(type: string | undefined, value: unknown): string | undefined {
  const names = [isNumeric(type) && 'number', (value === null || value === undefined) && 'soft']
  return names.filter(Boolean).join(' ') || undefined
}
