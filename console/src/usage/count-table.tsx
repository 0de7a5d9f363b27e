import '../styles/usage.css'
import type { UsageCount } from '@wayleave/contract/records'
import { type ReactNode, useState } from 'react'
import { Table, type TableColumn } from '../components/table.tsx'
import { count } from '../words.ts'

const FIRST = 8

/** Calls and credits by key, member, dataset, organization or operation; nothing if there are none. */
export function CountTable<T extends UsageCount & { id: string; name: ReactNode }>({
  title,
  rows,
  columns = [],
}: {
  title: string
  rows: readonly T[]
  /** Between the name and the counts. */
  columns?: TableColumn<T>[]
}) {
  const [isWhole, setWhole] = useState(false)
  if (rows.length === 0) return null
  const most = Math.max(...rows.map(({ calls }) => calls))
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>{title}</h2>
      </div>
      <Table
        label={title}
        rows={isWhole ? rows : rows.slice(0, FIRST)}
        keyOf={({ id }) => id}
        columns={[
          { head: 'Name', kind: 'long', cell: ({ name }) => name },
          ...columns,
          { head: 'Calls', kind: 'number', cell: ({ calls }) => <Share value={calls} most={most} /> },
          { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
        ]}
      />
      {!isWhole && rows.length > FIRST && (
        <div className="padded">
          <button type="button" className="button" onClick={() => setWhole(true)}>
            Show all {count(rows.length)}
          </button>
        </div>
      )}
    </section>
  )
}

/** A number with a bar: as long as its share of the largest one. */
function Share({ value, most }: { value: number; most: number }) {
  return (
    <span className="share">
      {count(value)}
      <span aria-hidden="true" style={{ width: `${(100 * value) / Math.max(1, most)}%` }} />
    </span>
  )
}
