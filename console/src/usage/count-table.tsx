import type { UsageCount } from '@wayleave/contract/records'
import type { ReactNode } from 'react'
import { Empty } from '../components/page/empty.tsx'
import { Table } from '../components/table.tsx'
import { count } from '../words.ts'

/** Calls and credits by key, member, dataset or organization. */
export function CountTable({
  title,
  rows,
}: {
  title: string
  rows: (UsageCount & { id: string; name: ReactNode })[]
}) {
  return (
    <section className="card flush">
      <div className="card-head">
        <h2>{title}</h2>
      </div>
      {rows.length === 0 ? (
        <Empty title="No calls in this period" />
      ) : (
        <Table
          label={title}
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { head: 'Name', kind: 'long', cell: ({ name }) => name },
            { head: 'Calls', kind: 'number', cell: ({ calls }) => count(calls) },
            { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
          ]}
        />
      )}
    </section>
  )
}
