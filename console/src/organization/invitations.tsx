import { useQueryClient } from '@tanstack/react-query'
import type { MemberPermission } from '@wayleave/contract/permissions'
import type { InvitationRecord, OrganizationRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { useInvitations } from '../api/queries.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { RowButton } from '../components/form/row-button.tsx'
import { ListCard } from '../components/list-card.tsx'
import { When } from '../components/when.tsx'
import { MemberPermissionsField, PermissionBadges } from './member-permissions.tsx'

/** The invitations that have not been accepted yet. */
export function Invitations({ organization }: { organization: OrganizationRecord }) {
  const invitations = useInvitations(organization.id, true)
  const queries = useQueryClient()
  const [withdrawn, setWithdrawn] = useState<InvitationRecord | null>(null)
  return (
    <ListCard
      label="Invitations"
      query={invitations}
      keyOf={({ id }) => id}
      empty="No open invitation"
      lines={2}
      columns={[
        { head: 'Email address', kind: 'long', cell: ({ email }) => email },
        { head: 'Role', cell: ({ permissions }) => <PermissionBadges permissions={permissions} /> },
        { head: 'Ends', cell: ({ expiresAt }) => <When at={expiresAt} /> },
        {
          head: 'Actions',
          kind: 'actions',
          cell: (invitation) => (
            <RowButton
              label="Withdraw"
              of={`the invitation of ${invitation.email}`}
              onClick={() => setWithdrawn(invitation)}
            />
          ),
        },
      ]}
    >
      {withdrawn && (
        <ActionDialog
          title={`Withdraw the invitation of ${withdrawn.email}?`}
          action="Withdraw"
          danger
          onClose={() => setWithdrawn(null)}
          onAction={async () => {
            await call('DELETE', `/v1/organization/${organization.id}/invitations/${withdrawn.id}`)
            await queries.invalidateQueries({ queryKey: ['invitations'] })
          }}
        >
          <p>The link in the email stops working. You can invite the address again.</p>
        </ActionDialog>
      )}
    </ListCard>
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
