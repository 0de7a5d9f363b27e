import type { UsageReport } from '@wayleave/contract/records'
import { Empty } from '../components/page/empty.tsx'
import { Table } from '../components/table.tsx'
import { count } from '../words.ts'

export function OperationTable({ operations }: { operations: UsageReport['operations'] }) {
  if (operations.length === 0) return <Empty title="No calls in this period" />
  return (
    <Table
      label="Usage by operation"
      rows={operations}
      keyOf={({ operation, table, format }) => `${operation} ${table} ${format}`}
      columns={[
        { head: 'Operation', cell: ({ operation }) => operation },
        {
          head: 'Dataset',
          kind: 'long',
          cell: ({ table }) => (table ? <code>{table}</code> : <span className="soft">all</span>),
        },
        { head: 'Format', cell: ({ format }) => format || <span className="soft">–</span> },
        { head: 'Calls', kind: 'number', cell: ({ calls }) => count(calls) },
        { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
      ]}
    />
  )
}
