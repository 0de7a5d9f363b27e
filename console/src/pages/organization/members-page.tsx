import type { Member } from '@wayleave/contract/records'
import { useState } from 'react'
import { useMe, useMembers, useOrganization } from '../../api/queries.ts'
import { ChoiceBar, ChooseButton } from '../../components/choice-bar.tsx'
import { EmailAddress } from '../../components/email-address.tsx'
import { RowButton } from '../../components/form/row-button.tsx'
import { SearchField } from '../../components/form/search-field.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { useRowChoice } from '../../components/use-row-choice.ts'
import { Day } from '../../components/when.tsx'
import { Invitations, InviteDialog } from '../../organization/invitations.tsx'
import {
  LeaveDialog,
  MemberBudgetDialog,
  MemberDialog,
  RemoveMemberDialog,
  RemoveMembersDialog,
} from '../../organization/member-dialogs.tsx'
import { PermissionBadges } from '../../organization/member-permissions.tsx'
import { roleOf } from '../../organization/roles.ts'
import { count, plainText, plural } from '../../words.ts'

/** So many are no longer seen at a glance. */
const MANY = 5

type Open = { kind: 'change' | 'budget' | 'remove' | 'leave'; member: Member }

export function MembersPage() {
  useTitle('Members')
  const organization = useOrganization()!
  const { data: me } = useMe()
  const members = useMembers(organization.id)
  const [open, setOpen] = useState<Open | null>(null)
  const [search, setSearch] = useState('')
  const [isRemoving, setRemoving] = useState(false)
  const [isInviting, setInviting] = useState(false)
  const words = plainText(search).split(/\s+/)
  const isFound = ({ email, permissions }: Member) => {
    const text = plainText(`${email} ${roleOf(permissions)?.name ?? ''}`)
    return words.every((word) => text.includes(word))
  }
  const manages = organization.permissions.includes('MEMBER_MANAGE')
  const maySpend = organization.permissions.includes('BILLING_MANAGE')
  const isCaller = (userId: string) => userId === me?.user.id
  const close = () => setOpen(null)
  const shown = members.data?.filter(isFound)
  const choosing = useRowChoice({
    rows: shown ?? [],
    keyOf: ({ userId }) => userId,
    nameOf: ({ email }) => email,
    canChoose: ({ userId }) => manages && !isCaller(userId),
  })
  const button = (kind: Open['kind'], label: string, member: Member) => (
    <RowButton label={label} of={member.email} onClick={() => setOpen({ kind, member })} />
  )
  return (
    <div className="stack">
      <ListCard
        label="Members"
        head={
          <>
            <h2>Members</h2>
            {manages && (
              <div className="row">
                <ChooseButton choosing={choosing} of="members" />
                <button type="button" className="button primary" onClick={() => setInviting(true)}>
                  Invite a colleague
                </button>
              </div>
            )}
          </>
        }
        query={{ ...members, data: shown }}
        choice={choosing.choice}
        filters={
          (members.data?.length ?? 0) > MANY && (
            <SearchField search={search} onSearch={setSearch} placeholder="Address or role" />
          )
        }
        lines={4}
        keyOf={({ userId }) => userId}
        empty={search === '' ? 'No members' : 'No member matches'}
        columns={[
          {
            head: 'Email address',
            kind: 'long',
            cell: ({ email, userId }) => (
              <>
                <EmailAddress email={email} /> {isCaller(userId) && <span className="badge">You</span>}
              </>
            ),
          },
          {
            head: 'Role',
            kind: 'long',
            cell: ({ permissions }) => <PermissionBadges permissions={permissions} />,
          },
          {
            head: 'Credits a month',
            kind: 'number',
            cell: ({ creditLimit }) =>
              creditLimit === null ? <span className="soft">No limit</span> : count(creditLimit),
          },
          { head: 'Joined', cell: ({ joinedAt }) => <Day at={joinedAt} /> },
          {
            head: 'Actions',
            kind: 'actions',
            cell: (member) => (
              <>
                {manages && button('change', 'Change', member)}
                {maySpend && button('budget', 'Budget', member)}
                {manages && !isCaller(member.userId) && button('remove', 'Remove', member)}
                {isCaller(member.userId) && button('leave', 'Leave', member)}
              </>
            ),
          },
        ]}
      >
        <ChoiceBar
          choosing={choosing}
          action={
            choosing.chosen.length === 0 ? 'Remove' : `Remove ${plural(choosing.chosen.length, 'member')}`
          }
          onAction={() => setRemoving(true)}
        />
        {isRemoving && (
          <RemoveMembersDialog
            organization={organization}
            members={choosing.chosen}
            onClose={(hasBegun) => {
              setRemoving(false)
              if (hasBegun) choosing.end()
            }}
          />
        )}
        {isInviting && <InviteDialog organization={organization} onClose={() => setInviting(false)} />}
      </ListCard>
      {manages && <Invitations organization={organization} />}
      {open?.kind === 'change' && (
        <MemberDialog organization={organization} member={open.member} onClose={close} />
      )}
      {open?.kind === 'budget' && (
        <MemberBudgetDialog organization={organization} member={open.member} onClose={close} />
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
