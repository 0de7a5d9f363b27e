import type { Feature } from '@wayleave/client'
import { Icon } from '../../components/icon.tsx'
import { cellText, exactText } from '../../datasets/cell-text.ts'
import type { Clause } from '../filter/clause.ts'
import { OnlyThese } from '../filter/only-these.tsx'
import { clauseOfValue } from '../filter/value-clause.ts'
import { type Pointing, useIsPointedByMap } from '../pointing.ts'
import type { ColumnLayout } from './use-column-layout.ts'

/** One row of the table. */
export function DataRow({
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
  onPick,
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
  /** Filters by the value of a cell; undefined if the rows cannot be filtered. */
  onPick: ((clause: Clause) => void) | undefined
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
              <span className="cell-tools">
                <OnlyThese clause={clauseOfValue(name, type, value)} onPick={onPick} isReachable={false} />
                <button
                  type="button"
                  className="cell-tool"
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
              </span>
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
