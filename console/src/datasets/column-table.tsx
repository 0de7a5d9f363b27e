import type { Column } from '@wayleave/client'
import { Table } from '../components/table.tsx'

export function ColumnTable({ columns }: { columns: Column[] }) {
  return (
    <div className="card flush">
      <Table
        label="Columns"
        rows={columns}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Name', cell: ({ name }) => <code>{name}</code> },
          { head: 'Type', cell: ({ type }) => type },
          {
            head: 'Nulls',
            cell: ({ nullable }) => (nullable ? 'May be null' : <span className="soft">Never null</span>),
          },
        ]}
      />
    </div>
  )
}
