import { useQueryClient } from '@tanstack/react-query'
import type { Member, OrganizationRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { leftOrganization } from '../account/left-organization.ts'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { NumberField, numberOf, textOf } from '../components/form/number-field.tsx'
import { SeveralDialog } from '../components/form/several-dialog.tsx'
import { plural } from '../words.ts'
import { MemberPermissionsField } from './member-permissions.tsx'
import { roleOf } from './roles.ts'

interface MemberDialogProps {
  organization: OrganizationRecord
  member: Member
  onClose: () => void
}

const pathOf = ({ organization, member }: MemberDialogProps) =>
  `/v1/organization/${organization.id}/members/${member.userId}`

export function MemberDialog(props: MemberDialogProps) {
  const { organization, member, onClose } = props
  const queries = useQueryClient()
  const [permissions, setPermissions] = useState(member.permissions)
  return (
    <ActionDialog
      title={`Permissions of ${member.email}`}
      action="Save the permissions"
      onClose={onClose}
      onAction={async () => {
        await call('PATCH', pathOf(props), { permissions })
        await queries.invalidateQueries()
      }}
    >
      <p className="soft">Changes apply from the member’s next request.</p>
      <MemberPermissionsField
        chosen={permissions}
        onChange={setPermissions}
        held={organization.permissions}
      />
    </ActionDialog>
  )
}

/** What a member may spend in a month, with all personal keys and in the console. */
export function MemberBudgetDialog(props: MemberDialogProps) {
  const { member, onClose } = props
  const queries = useQueryClient()
  const [budget, setBudget] = useState(textOf(member.creditLimit))
  return (
    <ActionDialog
      title={`Budget of ${member.email}`}
      action="Save the budget"
      onClose={onClose}
      onAction={async () => {
        await call('PUT', `${pathOf(props)}/budget`, { creditLimit: numberOf(budget) })
        await queries.invalidateQueries({ queryKey: ['members'] })
      }}
    >
      <p className="soft">For all personal keys of the member and their downloads in the console together.</p>
      <NumberField
        label="Credits a month"
        value={budget}
        onChange={setBudget}
        help="Downloads beyond it are refused. Empty: no limit."
        max={1_000_000_000_000}
        isOptional
      />
    </ActionDialog>
  )
}

export function RemoveMemberDialog(props: MemberDialogProps) {
  const queries = useQueryClient()
  return (
    <ActionDialog
      title={`Remove ${props.member.email}?`}
      action="Remove the member"
      danger
      onClose={props.onClose}
      onAction={async () => {
        await call('DELETE', pathOf(props))
        await queries.invalidateQueries({ queryKey: ['members'] })
      }}
    >
      <p>
        They lose access to {props.organization.name}, and their personal keys stop at once. Keys of the
        organization stay.
      </p>
    </ActionDialog>
  )
}

export function RemoveMembersDialog({
  organization,
  members,
  onClose,
}: {
  organization: OrganizationRecord
  members: Member[]
  onClose: (hasBegun: boolean) => void
}) {
  const queries = useQueryClient()
  const membersInWords = plural(members.length, 'member')
  return (
    <SeveralDialog
      title={`Remove ${membersInWords}?`}
      action={`Remove ${membersInWords}`}
      done="Removed"
      rows={members}
      keyOf={({ userId }) => userId}
      cell={({ email, permissions }) => (
        <>
          <strong>{email}</strong> <span className="small soft">{roleOf(permissions)?.name ?? 'Custom'}</span>
        </>
      )}
      onEach={(member) => call('DELETE', `/v1/organization/${organization.id}/members/${member.userId}`)}
      onEnd={() => queries.invalidateQueries({ queryKey: ['members'] })}
      onClose={onClose}
    >
      <p>
        They lose access to {organization.name}, and their personal keys stop at once. Keys of the
        organization stay. To come back, they need an invitation.
      </p>
    </SeveralDialog>
  )
}

export function LeaveDialog(props: MemberDialogProps) {
  const navigate = useNavigate()
  return (
    <ActionDialog
      title={`Leave ${props.organization.name}?`}
      action="Leave the organization"
      danger
      onClose={props.onClose}
      onAction={async () => {
        await call('DELETE', pathOf(props))
        await leftOrganization(navigate)
      }}
    >
      <p>
        Your personal keys stop at once, and you no longer see this organization. To come back, you need an
        invitation.
      </p>
    </ActionDialog>
  )
}
