import type { Member } from '@wayleave/contract/records'
import { useState } from 'react'
import { useMe, useMembers, useOrganization } from '../api/queries.ts'
import { Loaded } from '../components/loaded.tsx'
import { Table } from '../components/table.tsx'
import { useTitle } from '../components/use-title.ts'
import { Day } from '../components/when.tsx'
import { Invitations } from '../organization/invitations.tsx'
import { LeaveDialog, MemberDialog, RemoveMemberDialog } from '../organization/member-dialogs.tsx'
import { PermissionBadges } from '../organization/member-permissions.tsx'

type Open = { kind: 'change' | 'remove' | 'leave'; member: Member }

export function MembersPage() {
  useTitle('Members')
  const organization = useOrganization()!
  const { data: me } = useMe()
  const members = useMembers(organization.id)
  const [open, setOpen] = useState<Open | null>(null)
  const manages = organization.permissions.includes('MEMBER_MANAGE')
  const isCaller = (userId: string) => userId === me?.user.id
  const close = () => setOpen(null)
  const button = (kind: Open['kind'], label: string, member: Member) => (
    <button
      type="button"
      className="button quiet small"
      aria-label={`${label} ${member.email}`}
      onClick={() => setOpen({ kind, member })}
    >
      {label}
    </button>
  )
  return (
    <div className="stack">
      <section className="card flush">
        <div className="card-head">
          <h2>Members</h2>
        </div>
        <Loaded query={members} lines={4}>
          {(rows) => (
            <Table
              label="Members"
              rows={rows}
              keyOf={({ userId }) => userId}
              columns={[
                {
                  head: 'Mail address',
                  kind: 'long',
                  cell: ({ email, userId }) => (
                    <>
                      {email} {isCaller(userId) && <span className="badge">You</span>}
                    </>
                  ),
                },
                {
                  head: 'Permissions',
                  cell: ({ permissions }) => <PermissionBadges permissions={permissions} />,
                },
                { head: 'Joined', cell: ({ joinedAt }) => <Day at={joinedAt} /> },
                {
                  head: 'Actions',
                  kind: 'actions',
                  cell: (member) => (
                    <>
                      {manages && button('change', 'Change', member)}
                      {manages && !isCaller(member.userId) && button('remove', 'Remove', member)}
                      {isCaller(member.userId) && button('leave', 'Leave', member)}
                    </>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </section>
      {manages && <Invitations organization={organization} />}
      {open?.kind === 'change' && (
        <MemberDialog organization={organization} member={open.member} onClose={close} />
      )}
      {open?.kind === 'remove' && (
        <RemoveMemberDialog organization={organization} member={open.member} onClose={close} />
      )}
      {open?.kind === 'leave' && (
        <LeaveDialog organization={organization} member={open.member} onClose={close} />
      )}
    </div>
  )
}
