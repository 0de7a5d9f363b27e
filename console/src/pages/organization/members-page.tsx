import type { InvitationRecord, Member } from '@wayleave/contract/records'
import { useState } from 'react'
import { useInvitations, useMe, useMembers, useOrganization } from '../../api/queries.ts'
import { ChoiceBar, ChooseButton } from '../../components/choice-bar.tsx'
import { SearchField } from '../../components/form/search-field.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { useRowChoice } from '../../components/use-row-choice.ts'
import { InviteAgainDialog, InviteDialog, WithdrawDialog } from '../../organization/invitations.tsx'
import { isMember, type MemberRow, memberColumns, memberRowKey } from '../../organization/member-columns.tsx'
import {
  LeaveDialog,
  MemberBudgetDialog,
  MemberDialog,
  RemoveMemberDialog,
  RemoveMembersDialog,
} from '../../organization/member-dialogs.tsx'
import { CUSTOM, rightsInWords, roleOf } from '../../organization/roles.ts'
import { plainText, plural } from '../../words.ts'

/** So many are no longer seen at a glance. */
const MANY = 5

type Open =
  | { kind: 'change' | 'budget' | 'remove' | 'leave'; member: Member }
  | { kind: 'again' | 'withdraw'; invitation: InvitationRecord }
  | { kind: 'invite' | 'remove-several' }

export function MembersPage() {
  useTitle('Members')
  const organization = useOrganization()!
  const { data: me } = useMe()
  const manages = organization.permissions.includes('MEMBER_MANAGE')
  const maySpend = organization.permissions.includes('BILLING_MANAGE')
  const members = useMembers(organization.id)
  const invitations = useInvitations(organization.id, manages)
  const [open, setOpen] = useState<Open | null>(null)
  const [search, setSearch] = useState('')
  const isCaller = (row: MemberRow) => isMember(row) && row.userId === me?.user.id
  // Both at once, so that the list does not grow under the pointer.
  const all = members.data && (!manages || invitations.data) && [...members.data, ...(invitations.data ?? [])]
  const shown = all?.filter(matching(search))
  const choosing = useRowChoice<MemberRow>({
    rows: shown ?? [],
    keyOf: memberRowKey,
    nameOf: ({ email }) => email,
    canChoose: (row) => manages && isMember(row) && !isCaller(row),
  })
  const chosen = choosing.chosen.filter(isMember)
  const actionsOf = (row: MemberRow) => {
    if (!isMember(row))
      return [
        { label: 'Send again', onChoose: () => setOpen({ kind: 'again', invitation: row }) },
        { label: 'Withdraw', isDanger: true, onChoose: () => setOpen({ kind: 'withdraw', invitation: row }) },
      ]
    const to = (kind: 'change' | 'budget' | 'remove' | 'leave') => () => setOpen({ kind, member: row })
    return [
      manages && { label: 'Change the role', onChoose: to('change') },
      maySpend && { label: 'Set a budget', onChoose: to('budget') },
      manages && !isCaller(row) && { label: 'Remove', isDanger: true, onChoose: to('remove') },
      isCaller(row) && { label: 'Leave', isDanger: true, onChoose: to('leave') },
    ]
  }
  const counted = (rows: MemberRow[], one: string) => plural(rows.length, one)
  return (
    <ListCard
      label="Members"
      action={
        manages && (
          <div className="row">
            <ChooseButton choosing={choosing} of="members" />
            <button type="button" className="button primary" onClick={() => setOpen({ kind: 'invite' })}>
              Invite a colleague
            </button>
          </div>
        )
      }
      query={{ ...(members.isError ? members : invitations), data: shown }}
      choice={choosing.choice}
      filters={
        (all?.length ?? 0) > MANY && (
          <SearchField search={search} onSearch={setSearch} placeholder="Address, role or right" />
        )
      }
      lines={4}
      keyOf={memberRowKey}
      groupOf={
        invitations.data?.length
          ? (row) =>
              isMember(row)
                ? counted(shown!.filter(isMember), 'member')
                : counted(
                    shown!.filter((one) => !isMember(one)),
                    'invitation',
                  )
          : undefined
      }
      empty={search === '' ? 'No members' : 'No member matches'}
      columns={memberColumns({
        isCaller,
        hasBudgets: members.data?.some(({ creditLimit }) => creditLimit !== null) ?? false,
        actionsOf,
      })}
    >
      <ChoiceBar
        choosing={choosing}
        action={chosen.length === 0 ? 'Remove' : `Remove ${plural(chosen.length, 'member')}`}
        onAction={() => setOpen({ kind: 'remove-several' })}
      />
      <MemberDialogs
        open={open}
        chosen={chosen}
        onClose={() => setOpen(null)}
        onRemoved={() => choosing.end()}
      />
    </ListCard>
  )
}

function MemberDialogs({
  open,
  chosen,
  onClose,
  onRemoved,
}: {
  open: Open | null
  chosen: Member[]
  onClose: () => void
  onRemoved: () => void
}) {
  const organization = useOrganization()!
  const shared = { organization, onClose }
  switch (open?.kind) {
    case 'change':
      return <MemberDialog {...shared} member={open.member} />
    case 'budget':
      return <MemberBudgetDialog {...shared} member={open.member} />
    case 'remove':
      return <RemoveMemberDialog {...shared} member={open.member} />
    case 'leave':
      return <LeaveDialog {...shared} member={open.member} />
    case 'again':
      return <InviteAgainDialog {...shared} invitation={open.invitation} />
    case 'withdraw':
      return <WithdrawDialog {...shared} invitation={open.invitation} />
    case 'invite':
      return <InviteDialog {...shared} />
    case 'remove-several':
      return (
        <RemoveMembersDialog
          organization={organization}
          members={chosen}
          onClose={(hasBegun) => {
            onClose()
            if (hasBegun) onRemoved()
          }}
        />
      )
    default:
      return null
  }
}

/** Whether a row has all words of a search in its address, its role or what the role is for. */
function matching(search: string): (row: MemberRow) => boolean {
  const words = plainText(search).split(/\s+/)
  return ({ email, permissions }) => {
    const role = roleOf(permissions)?.name ?? CUSTOM
    const text = plainText(`${email} ${role} ${rightsInWords(permissions)}`)
    return words.every((word) => text.includes(word))
  }
}
