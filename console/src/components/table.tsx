import { Fragment, type ReactNode } from 'react'
import { Scroll } from './scroll.tsx'
import type { RowChoice } from './use-row-choice.ts'

export interface TableColumn<T> {
  head: string
  cell: (row: T) => ReactNode
  /**
   * `number`: right-aligned. `actions`: the column head is visible to screen readers only; `menu`: so is the head
   * above a `RowMenu`. `long`: long words are broken. `line`: on one line, cut off where the column ends.
   */
  kind?: 'number' | 'actions' | 'menu' | 'long' | 'line'
}

export interface TableProps<T> {
  label: string
  columns: TableColumn<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
  isNamed?: boolean
  /** Rows of a time, what happened then, and more: on a phone the time stands at the end of the first line. */
  isLog?: boolean
  /** The heading above rows that follow each other and have the same one. */
  groupOf?: ((row: T) => string) | undefined
  /** While rows are chosen: a column of boxes before the others. */
  choice?: RowChoice<T> | undefined
}

/** As properties: the linter takes them for redundant. */
const roles = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  columnheader: { role: 'columnheader' },
  rowheader: { role: 'rowheader' },
  cell: { role: 'cell' },
} as const

/**
 * A table with column heads. The first cell of each row is the row's header, unless `isNamed` is false. On a
 * phone each row becomes a card with the column heads as labels. The roles are written out, because browsers
 * drop those of elements that are no longer displayed as a table.
 */
export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  isNamed = true,
  isLog = false,
  groupOf,
  choice,
}: TableProps<T>) {
  return (
    <Scroll label={label}>
      <table className={isLog ? 'becomes-cards log' : 'becomes-cards'} {...roles.table}>
        <thead {...roles.rowgroup}>
          <tr {...roles.row}>
            {choice && (
              <th scope="col" {...roles.columnheader} className="choose">
                <span className="visually-hidden">Select</span>
              </th>
            )}
            {columns.map(({ head, kind }) => (
              <th
                key={head}
                scope="col"
                {...roles.columnheader}
                className={kind === 'number' ? kind : undefined}
              >
                {isAction(kind) ? <span className="visually-hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...roles.rowgroup}>
          {rows.map((row, index) => (
            <Fragment key={keyOf(row)}>
              {groupOf && groupOf(row) !== (rows[index - 1] && groupOf(rows[index - 1]!)) && (
                <tr className="group" {...roles.row}>
                  <th colSpan={columns.length + (choice ? 1 : 0)} scope="rowgroup" {...roles.rowheader}>
                    {groupOf(row)}
                  </th>
                </tr>
              )}
              <tr {...roles.row}>
                {choice && (
                  <td {...roles.cell} className="choose" data-head="Select">
                    <ChoiceBox row={row} choice={choice} />
                  </td>
                )}
                {columns.map(({ head, kind, cell }, place) =>
                  isNamed && place === 0 ? (
                    <th key={head} scope="row" {...roles.rowheader} className={kind}>
                      {cell(row)}
                    </th>
                  ) : (
                    <td key={head} {...roles.cell} className={kind} data-head={isAction(kind) ? '' : head}>
                      <span className="cell">{cell(row)}</span>
                    </td>
                  ),
                )}
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

function isAction(kind: TableColumn<never>['kind']): boolean {
  return kind === 'actions' || kind === 'menu'
}

function ChoiceBox<T>({ row, choice }: { row: T; choice: RowChoice<T> }) {
  return (
    <input
      type="checkbox"
      aria-label={`Select ${choice.nameOf(row)}`}
      checked={choice.isChosen(row)}
      disabled={!choice.canChoose(row)}
      onChange={() => choice.onToggle(row)}
    />
  )
}
