import { useEffect, useRef } from 'react'
import type { Exploration } from '../access.ts'
import type { Clause } from '../filter/clause.ts'
import { ColumnControls, replaceIn } from '../filter/column-controls.tsx'
import { isCountable } from '../filter/facet.ts'
import { useFacets } from '../filter/use-facets.ts'

const WIDTH_PX = 288
const MARGIN_PX = 8
/** Below this height there is more room above the head. */
const MIN_HEIGHT_PX = 260

/** The filter of a column, which opens at its head. */
export function HeadFilter({
  exploration,
  name,
  head,
  clauses,
  onClauses,
  onClose,
}: {
  exploration: Exploration
  name: string
  /** The place of the button that opened it. */
  head: DOMRect
  clauses: readonly Clause[]
  onClauses: (clauses: Clause[]) => void
  onClose: () => void
}) {
  const { dataset } = exploration
  const place = useRef<HTMLDivElement>(null)
  const column = dataset.columns.find((one) => one.name === name)!
  const countable = isCountable(column, dataset)
  const facet = useFacets(exploration, clauses, countable ? [name] : []).get(name)
  useEffect(() => place.current!.showPopover(), [])
  // The values come a moment later than the place for them.
  const isReady = !countable || facet !== undefined
  useEffect(() => {
    if (isReady) place.current!.querySelector<HTMLElement>('input')?.focus()
  }, [isReady])
  return (
    <div
      ref={place}
      popover="auto"
      className="head-filter"
      role="dialog"
      aria-label={`Filter by ${name}`}
      style={placeAt(head)}
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      <strong dir="auto">{name}</strong>
      {isReady ? (
        <ColumnControls
          column={column}
          isDisabled={false}
          isCountable={countable}
          clauses={clauses}
          facet={facet}
          onReplace={replaceIn(clauses, onClauses)}
        />
      ) : (
        <p className="small soft" role="status">
          Counting its values
        </p>
      )}
    </div>
  )
}

/** Below the head, or above it if there is more room; never beyond the edges of the window. */
function placeAt({ left, top, bottom }: DOMRect) {
  const max = Math.max(MARGIN_PX, innerWidth - WIDTH_PX - MARGIN_PX)
  const below = innerHeight - bottom - 2 * MARGIN_PX
  const isAbove = below < MIN_HEIGHT_PX && top > below
  return {
    left: Math.max(MARGIN_PX, Math.min(left, max)),
    ...(isAbove
      ? { bottom: innerHeight - top + 4, maxHeight: top - 2 * MARGIN_PX }
      : { top: bottom + 4, maxHeight: below }),
  }
}
