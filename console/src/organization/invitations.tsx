import { useQueryClient } from '@tanstack/react-query'
import type { MemberPermission } from '@wayleave/contract/permissions'
import type { InvitationRecord, OrganizationRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { MemberPermissionsField } from './member-permissions.tsx'

export function WithdrawDialog({
  organization,
  invitation,
  onClose,
}: {
  organization: OrganizationRecord
  invitation: InvitationRecord
  onClose: () => void
}) {
  const queries = useQueryClient()
  return (
    <ActionDialog
      title={`Withdraw the invitation of ${invitation.email}?`}
      action="Withdraw"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', `/v1/organization/${organization.id}/invitations/${invitation.id}`)
        await queries.invalidateQueries({ queryKey: ['invitations'] })
      }}
    >
      <p>The link in the email stops working. You can invite the address again.</p>
    </ActionDialog>
  )
}

/** The new mail takes the place of the one before, whose link stops working. */
export function InviteAgainDialog({
  organization,
  invitation: { email, permissions },
  onClose,
}: {
  organization: OrganizationRecord
  invitation: InvitationRecord
  onClose: () => void
}) {
  const queries = useQueryClient()
  return (
    <ActionDialog
      title={`Invite ${email} again?`}
      action="Send the invitation"
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/organization/${organization.id}/invitations`, { email, permissions })
        await queries.invalidateQueries({ queryKey: ['invitations'] })
      }}
    >
      <p>A new email is sent, whose link works for 7 days. The link of the one before stops working.</p>
    </ActionDialog>
  )
}

export function InviteDialog({
  organization,
  onClose,
}: {
  organization: OrganizationRecord
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [email, setEmail] = useState('')
  const [permissions, setPermissions] = useState<MemberPermission[]>([])
  return (
    <ActionDialog
      title="Invite a colleague"
      action="Send the invitation"
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/organization/${organization.id}/invitations`, { email, permissions })
        await queries.invalidateQueries({ queryKey: ['invitations'] })
      }}
    >
      <Field label="Email address" help="The link in the email works once, for 7 days.">
        {(props) => (
          <input
            {...props}
            type="email"
            required
            maxLength={320}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <MemberPermissionsField
        chosen={permissions}
        onChange={setPermissions}
        held={organization.permissions}
      />
    </ActionDialog>
  )
}
