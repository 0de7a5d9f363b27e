import type { ReactNode } from 'react'
import { MoreButton, type PagedQuery } from './form/more-button.tsx'
import { Empty } from './page/empty.tsx'
import { Loaded } from './page/loaded.tsx'
import { Table, type TableColumn } from './table.tsx'
import type { RowChoice } from './use-row-choice.ts'

interface State {
  isError: boolean
  error: unknown
  refetch: () => unknown
}

/** A list that the service returns whole, or a page at a time. */
export type ListQuery<T> = State &
  (
    | { data: T[] | undefined; hasNextPage?: undefined }
    | ({ data: { pages: { data: T[] }[] } | undefined } & PagedQuery)
  )

/** A card with a head, a table of rows that are loaded as they are needed, and a sentence if there are none. */
export function ListCard<T>({
  label,
  head,
  filters,
  action,
  query,
  keyOf,
  columns,
  empty,
  isNamed = true,
  isLog = false,
  groupOf,
  lines = 6,
  choice,
  children,
}: {
  label: string
  /** A heading with more beside it; without it, the label is the heading. */
  head?: ReactNode
  /** Fields below the heading. */
  filters?: ReactNode
  action?: ReactNode
  query: ListQuery<T>
  keyOf: (row: T) => string | number
  columns: TableColumn<T>[]
  /** What is shown instead of an empty table. */
  empty: string | { title: string; text: ReactNode }
  isNamed?: boolean
  isLog?: boolean
  groupOf?: (row: T) => string
  lines?: number
  choice?: RowChoice<T> | undefined
  /** The dialogs of the list, and the bar of what is chosen. */
  children?: ReactNode
}) {
  const { title, text } = typeof empty === 'string' ? { title: empty, text: null } : empty
  return (
    <section className="card flush">
      <div className="card-head">
        {head ?? <h2>{label}</h2>}
        {filters && <div className="filters">{filters}</div>}
        {action}
      </div>
      <Loaded query={{ ...query, data: rowsOf(query) }} lines={lines} isList>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title={title}>{text}</Empty>
          ) : (
            <>
              <Table {...{ label, rows, keyOf, columns, isNamed, isLog, groupOf, choice }} />
              {query.hasNextPage !== undefined && <MoreButton query={query} />}
            </>
          )
        }
      </Loaded>
      {children}
    </section>
  )
}

function rowsOf<T>({ data }: ListQuery<T>): T[] | undefined {
  return data && 'pages' in data ? data.pages.flatMap((page) => page.data) : data
}
