import type { KeyRecord } from '@wayleave/contract/records'
import { Link } from 'react-router'
import { Table } from '../components/table.tsx'
import type { RowChoice } from '../components/use-row-choice.ts'
import { Ago, Day } from '../components/when.tsx'
import { KeyCallers } from './key-callers.tsx'
import { permissionWords } from './key-permissions.ts'
import { KeyStatus } from './key-status.tsx'

export function KeyTable({
  keys,
  label,
  page,
  choice,
}: {
  keys: KeyRecord[]
  label: string
  page: string
  choice: RowChoice<KeyRecord> | undefined
}) {
  return (
    <Table
      label={label}
      rows={keys}
      keyOf={({ id }) => id}
      choice={choice}
      columns={[
        { head: 'Name', kind: 'long', cell: ({ id, name }) => <Link to={`${page}/${id}`}>{name}</Link> },
        { head: 'Status', cell: (key) => <KeyStatus record={key} /> },
        { head: 'Begins with', cell: ({ prefix }) => <code className="nowrap">{prefix}…</code> },
        { head: 'Permissions', kind: 'long', cell: ({ permissions }) => permissionWords(permissions) },
        { head: 'Used by', kind: 'long', cell: (key) => <KeyCallers record={key} isInList /> },
        { head: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
        {
          head: 'Expires',
          cell: ({ expiresAt }) => (expiresAt ? <Day at={expiresAt} /> : <span className="soft">Never</span>),
        },
      ]}
    />
  )
}
