import type { InvitationRecord, Member } from '@wayleave/contract/records'
import { type RowAction, RowMenu } from '../components/form/row-menu.tsx'
import type { TableColumn } from '../components/table.tsx'
import { Day } from '../components/when.tsx'
import { ago, count, moment } from '../words.ts'
import { Rights } from './rights.tsx'

/** A member, or somebody who is invited and is not one yet. */
export type MemberRow = Member | InvitationRecord

export const isMember = (row: MemberRow): row is Member => 'userId' in row

export const memberRowKey = (row: MemberRow) => (isMember(row) ? row.userId : row.id)

export function memberColumns({
  isCaller,
  hasBudgets,
  actionsOf,
}: {
  isCaller: (row: MemberRow) => boolean
  /** Whether a member has a limit of credits. */
  hasBudgets: boolean
  actionsOf: (row: MemberRow) => (RowAction | false)[]
}): TableColumn<MemberRow>[] {
  const budget: TableColumn<MemberRow> = {
    head: 'Credits a month',
    kind: 'number',
    cell: (row) => isMember(row) && row.creditLimit !== null && count(row.creditLimit),
  }
  return [
    {
      head: 'Email address',
      kind: 'line',
      cell: (row) => (
        <span title={row.email}>
          {row.email} {isCaller(row) && <span className="badge">You</span>}
        </span>
      ),
    },
    { head: 'Role', cell: ({ permissions, email }) => <Rights permissions={permissions} of={email} /> },
    ...(hasBudgets ? [budget] : []),
    {
      head: 'Joined',
      cell: (row) =>
        isMember(row) ? (
          <Day at={row.joinedAt} />
        ) : (
          <span className="soft nowrap" title={moment(row.expiresAt)}>
            Invited, ends {ago(row.expiresAt, Date.now())}
          </span>
        ),
    },
    {
      head: 'Actions',
      kind: 'menu',
      cell: (row) => <RowMenu of={row.email} actions={actionsOf(row)} />,
    },
  ]
}
