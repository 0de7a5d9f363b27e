import type { LoggedKeyRequest } from '@wayleave/contract/records'
import { useState } from 'react'
import { queryText, useRows } from '../api/queries.ts'
import { CsvButton } from '../components/form/csv-button.tsx'
import { ListCard } from '../components/list-card.tsx'
import type { TableColumn } from '../components/table.tsx'
import { DatasetLink } from '../datasets/dataset-link.tsx'
import { DateField, dayRange, SelectField } from '../organization/filter-fields.tsx'
import { OPERATIONS, operationWords } from '../usage/operation-words.ts'
import { bytes, count, moment, weekday } from '../words.ts'

const statuses = { '': 'All', '2xx': 'Successful', '4xx': 'Refused (4xx)', '5xx': 'Failed (5xx)' }
const operations = { '': 'All', ...OPERATIONS }

const columns: TableColumn<LoggedKeyRequest>[] = [
  { head: 'When (UTC)', cell: ({ at }) => <Time at={at} /> },
  {
    head: 'What',
    kind: 'long',
    cell: ({ operation, table }) => (
      <>
        <span title={operation}>{operationWords(operation)}</span>{' '}
        {table && (
          <span className="soft">
            of <DatasetLink table={table} />
          </span>
        )}
      </>
    ),
  },
  {
    head: 'Status',
    cell: ({ status }) => (
      <span className={`badge ${status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'}`}>{status}</span>
    ),
  },
  { head: 'Time', kind: 'number', cell: ({ milliseconds }) => `${count(milliseconds)} ms` },
  { head: 'Size', kind: 'number', cell: (row) => (row.bytes === null ? '–' : bytes(row.bytes)) },
  { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
  { head: 'Requests', kind: 'number', cell: ({ weight }) => (weight === 1 ? '1' : `one of ${weight}`) },
]

/** The time of day: the date is above. */
function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={moment(at)}>
      {at.slice(11, 19)}
    </time>
  )
}

/** The single requests of a key in the last days. Of a key that sends more than one a second, some are shown. */
export function KeyRequests({ path }: { path: string }) {
  const [filter, setFilter] = useState({ operation: '', status: '', first: '', last: '' })
  const { operation, status, first, last } = filter
  const query = { operation, status, ...dayRange(first, last) }
  const set = (name: keyof typeof filter) => (value: string) => setFilter({ ...filter, [name]: value })
  return (
    <ListCard
      label="Requests"
      filters={
        <>
          <SelectField label="What" value={operation} onChange={set('operation')} options={operations} />
          <SelectField label="Status" value={status} onChange={set('status')} options={statuses} />
          <DateField label="From" value={first} onChange={set('first')} />
          <DateField label="To" value={last} onChange={set('last')} />
        </>
      }
      action={<CsvButton path={`${path}.csv?${queryText(query)}`} name="requests.csv" />}
      query={useRows<LoggedKeyRequest>(path, query)}
      keyOf={({ id }) => id}
      groupOf={({ at }) => weekday(at, Date.now())}
      columns={columns}
      isNamed={false}
      empty={{
        title: Object.values(filter).some((one) => one !== '') ? 'No request matches' : 'No requests yet',
        text: <p>Requests of the last days are listed here about a second after they were made.</p>,
      }}
      lines={5}
    />
  )
}
