import type { Column } from '@wayleave/client'
import { Table, type TableColumn } from '../components/table.tsx'

/** The columns with what the publisher says about them; columns of the table that would be empty are left out. */
export function ColumnTable({ columns }: { columns: Column[] }) {
  const hasUnits = columns.some(({ unit }) => unit)
  const hasWords = columns.some(({ title, description }) => title || description)
  const shown: (TableColumn<Column> | false)[] = [
    { head: 'Name', cell: ({ name }) => <code dir="auto">{name}</code> },
    { head: 'Type', cell: ({ type }) => type },
    hasUnits && { head: 'Unit', cell: ({ unit }) => unit ?? '' },
    hasWords && { head: 'About', kind: 'long', cell: (column) => <Words column={column} /> },
    {
      head: 'Nulls',
      cell: ({ nullable }) => (
        <span className={`nowrap${nullable ? '' : ' soft'}`}>{nullable ? 'May be null' : 'Never null'}</span>
      ),
    },
  ]
  return (
    <div className="card flush">
      <Table
        label="Columns"
        rows={columns}
        keyOf={({ name }) => name}
        columns={shown.filter((column) => column !== false)}
      />
    </div>
  )
}

function Words({ column: { title, description } }: { column: Column }) {
  if (!title && !description) return null
  return (
    <span dir="auto">
      {title && <strong>{title}</strong>}
      {title && description && ': '}
      {description}
    </span>
  )
}
