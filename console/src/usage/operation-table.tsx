import type { UsageReport } from '@wayleave/contract/records'
import { DatasetLink } from '../datasets/dataset-link.tsx'
import { formatName } from '../words.ts'
import { CountTable } from './count-table.tsx'
import { operationWords } from './operation-words.ts'

export function OperationTable({ operations }: { operations: UsageReport['operations'] }) {
  return (
    <CountTable
      title="By operation"
      rows={operations.map((row) => ({
        ...row,
        id: `${row.operation} ${row.table} ${row.format}`,
        name: <span title={row.operation}>{operationWords(row.operation)}</span>,
      }))}
      columns={[
        {
          head: 'Dataset',
          kind: 'long',
          cell: ({ table }) =>
            table ? <DatasetLink table={table} /> : <span className="soft">All datasets</span>,
        },
        {
          head: 'Format',
          cell: ({ format }) => (format ? formatName(format) : <span className="soft">–</span>),
        },
      ]}
    />
  )
}
