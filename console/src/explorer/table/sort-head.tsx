import type { KeyboardEvent, PointerEvent } from 'react'
import { Icon } from '../../components/icon.tsx'
import type { ColumnLayout } from './use-column-layout.ts'

/** Width by one press of an arrow key, in rem. */
const KEY_STEP = 1

/**
 * The head of a column: a click sorts by it, a second one the other way round, a third one not at all. The funnel opens
 * its filter, the pin keeps the column in view, and its right edge changes the width.
 */
export function SortHead({
  name,
  type,
  sort,
  onSort,
  isFiltered,
  onFilter,
  layout,
}: {
  name: string
  type: string | undefined
  sort: string
  /** Null if the rows cannot be sorted by this column. */
  onSort: ((sort: string) => void) | null
  isFiltered: boolean
  /** Opens the column's filter at its button; null if the rows cannot be filtered by it. */
  onFilter: ((button: DOMRect) => void) | null
  layout: ColumnLayout
}) {
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined
  const next = direction === 'ascending' ? `-${name}` : direction === 'descending' ? '' : name
  const kind = type === 'number' || type === 'integer' ? 'number' : undefined
  const pinnedAt = layout.pinnedAt(name)
  const isPinned = pinnedAt !== undefined
  return (
    <th
      scope="col"
      className={[kind, isPinned && 'pinned'].filter(Boolean).join(' ') || undefined}
      aria-sort={direction}
      style={isPinned ? { left: `${pinnedAt}rem` } : undefined}
    >
      {onSort ? (
        <button type="button" onClick={() => onSort(next)} title={`Sort by ${name}`}>
          <span dir="auto">{name}</span>
          <span aria-hidden="true" className="sort-mark">
            {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
          </span>
        </button>
      ) : (
        <span dir="auto">{name}</span>
      )}
      {onFilter && (
        <button
          type="button"
          className="head-tool by-filter"
          aria-haspopup="dialog"
          aria-label={isFiltered ? `Filter by ${name}, on` : `Filter by ${name}`}
          title={`Filter by ${name}`}
          data-on={isFiltered || undefined}
          onClick={(event) => onFilter(event.currentTarget.getBoundingClientRect())}
        >
          <Icon name="filter" />
        </button>
      )}
      <button
        type="button"
        className="head-tool pin"
        aria-pressed={isPinned}
        data-on={isPinned || undefined}
        aria-label={`Pin ${name}`}
        title={isPinned ? 'Unpin' : 'Pin to the left'}
        onClick={() => layout.togglePin(name)}
      >
        <Icon name="pin" />
      </button>
      <Edge name={name} layout={layout} />
    </th>
  )
}

/** The edge of a column, which is dragged, or moved by the arrow keys. */
function Edge({ name, layout }: { name: string; layout: ColumnLayout }) {
  const width = layout.widths.get(name)!
  const drag = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault()
    const edge = event.currentTarget
    edge.setPointerCapture(event.pointerId)
    const start = event.clientX
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
    const move = (moved: globalThis.PointerEvent) =>
      layout.resize(name, width + (moved.clientX - start) / rem)
    edge.addEventListener('pointermove', move)
    edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
      once: true,
    })
  }
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'ArrowRight') layout.resize(name, width + KEY_STEP)
    if (key === 'ArrowLeft') layout.resize(name, width - KEY_STEP)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is not a horizontal rule.
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${name}`}
      aria-valuenow={Math.round(width)}
      aria-valuemin={3}
      aria-valuemax={60}
      tabIndex={0}
      className="column-edge"
      onPointerDown={drag}
      onKeyDown={onKeyDown}
    />
  )
}
