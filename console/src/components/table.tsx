import type { ReactNode } from 'react'
import { Scroll } from './scroll.tsx'

export interface TableColumn<T> {
  head: string
  cell: (row: T) => ReactNode
  /**
   * `number`: right-aligned. `actions`: the column head is visible to screen readers only. `long`: long words
   * are broken.
   */
  kind?: 'number' | 'actions' | 'long'
}

/** A table with column heads. The first cell of each row is the row's header, unless `isNamed` is false. */
export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  isNamed = true,
}: {
  label: string
  columns: TableColumn<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
  isNamed?: boolean
}) {
  return (
    <Scroll label={label}>
      <table>
        <thead>
          <tr>
            {columns.map(({ head, kind }) => (
              <th key={head} scope="col" className={kind === 'number' ? kind : undefined}>
                {kind === 'actions' ? <span className="visually-hidden">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, kind, cell }, place) =>
                isNamed && place === 0 ? (
                  <th key={head} scope="row" className={kind}>
                    {cell(row)}
                  </th>
                ) : (
                  <td key={head} className={kind}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
