import type { KeyRecord, LedgerRow, Member } from '@wayleave/contract/records'
import { useState } from 'react'
import { queryText, useLedger } from '../api/queries.ts'
import { CsvButton } from '../components/form/csv-button.tsx'
import { ListCard } from '../components/list-card.tsx'
import type { TableColumn } from '../components/table.tsx'
import { When } from '../components/when.tsx'
import { DatasetLink } from '../datasets/dataset-link.tsx'
import { count, formatName, signed } from '../words.ts'
import { DateField, dayRange, SelectField } from './filter-fields.tsx'

const kinds: Record<LedgerRow['kind'], string> = {
  grant: 'Granted',
  correction: 'Corrected',
  download: 'Download',
  refund: 'Refund',
  purchase: 'Bought',
  reversal: 'Payment returned',
  lapse: 'Lapsed',
}

const columns: TableColumn<LedgerRow>[] = [
  { head: 'When', cell: ({ at }) => <When at={at} /> },
  { head: 'What', cell: ({ kind }) => kinds[kind] },
  { head: 'For', kind: 'long', cell: (row) => <Purchase row={row} /> },
  { head: 'Key', kind: 'long', cell: (row) => keyWords(row) },
  { head: 'By', kind: 'long', cell: (row) => memberWords(row) },
  { head: 'Credits', kind: 'number', cell: ({ amount }) => signed(amount) },
  { head: 'Balance', kind: 'number', cell: ({ balance }) => count(balance) },
]

/** The ledger of an organization, with filters and, for its members, a CSV file. */
export function LedgerCard({
  path,
  keys,
  members,
  hasCsv,
}: {
  /** The path of the organization in the API. */
  path: string
  keys: KeyRecord[]
  members: Member[]
  hasCsv: boolean
}) {
  const [filter, setFilter] = useState({ kind: '', keyId: '', userId: '', first: '', last: '' })
  const set = (name: keyof typeof filter) => (value: string) => setFilter({ ...filter, [name]: value })
  const { first, last, ...rest } = filter
  const query = { ...rest, ...dayRange(first, last) }
  const ledger = useLedger(path, query)
  const isFiltered = Object.values(filter).some((value) => value !== '')
  return (
    <ListCard
      label="Ledger"
      filters={
        <>
          <SelectField
            label="What"
            value={filter.kind}
            onChange={set('kind')}
            options={{ '': 'All', ...kinds }}
          />
          <SelectField
            label="Key"
            value={filter.keyId}
            onChange={set('keyId')}
            options={[['', 'All'], ...keys.map(({ id, name }) => [id, name] as const)]}
          />
          <SelectField
            label="Member"
            value={filter.userId}
            onChange={set('userId')}
            options={[['', 'All'], ...members.map(({ userId, email }) => [userId, email] as const)]}
          />
          <DateField label="From" value={filter.first} onChange={set('first')} />
          <DateField label="To" value={filter.last} onChange={set('last')} />
        </>
      }
      action={hasCsv && <CsvButton path={`${path}/ledger.csv?${queryText(query)}`} name="ledger.csv" />}
      query={ledger}
      isNamed={false}
      keyOf={({ id }) => id}
      columns={columns}
      empty={{
        title: isFiltered ? 'No transaction matches' : 'No transactions yet',
        text: <p>Credits are added, and downloads use them.</p>,
      }}
    />
  )
}

function keyWords({ keyId, keyName, kind, actor }: LedgerRow) {
  if (keyId !== null) return keyName ?? keyId
  const isConsole = (kind === 'download' || kind === 'refund') && actor?.startsWith('user:')
  return <span className="soft">{isConsole ? 'The console' : '–'}</span>
}

function memberWords({ member, actor, kind }: LedgerRow) {
  if (member !== null) return member
  if (kind === 'grant' || kind === 'correction') return 'The operator'
  return <span className="soft">{actor?.startsWith('user:') ? 'A deleted user' : '–'}</span>
}

function Purchase({ row: { table, format, version, orderId } }: { row: LedgerRow }) {
  if (orderId !== null) return <span title={orderId}>An order</span>
  if (!table) return <span className="soft">–</span>
  return (
    <>
      <DatasetLink table={table} /> {format && formatName(format)}
      {version !== null && `, version ${version}`}
    </>
  )
}
