import { useState } from 'react'
import { useMe, useMembers, useOrganization } from '../api/queries.ts'
import type { Member } from '../api/records.ts'
import { Loaded } from '../components/loaded.tsx'
import { Scroll } from '../components/scroll.tsx'
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
            <Scroll label="Members">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Mail address</th>
                    <th scope="col">Permissions</th>
                    <th scope="col">Joined</th>
                    <th scope="col">
                      <span className="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map((member) => (
                    <tr key={member.userId}>
                      <th scope="row">
                        {member.email} {member.userId === me?.user.id && <span className="badge">You</span>}
                      </th>
                      <td>
                        <PermissionBadges permissions={member.permissions} />
                      </td>
                      <td>
                        <Day at={member.joinedAt} />
                      </td>
                      <td className="actions">
                        {manages && button('change', 'Change', member)}
                        {manages && member.userId !== me?.user.id && button('remove', 'Remove', member)}
                        {member.userId === me?.user.id && button('leave', 'Leave', member)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
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
