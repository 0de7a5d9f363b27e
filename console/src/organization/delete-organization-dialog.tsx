import type { OrganizationRecord } from '@wayleave/contract/records'
import { useNavigate } from 'react-router'
import { leftOrganization } from '../account/left-organization.ts'
import { TypedConfirmation } from '../account/typed-confirmation.tsx'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'

export function DeleteOrganizationDialog({
  organization,
  onClose,
}: {
  organization: OrganizationRecord
  onClose: () => void
}) {
  const navigate = useNavigate()
  return (
    <ActionDialog
      title={`Delete ${organization.name}?`}
      action="Delete the organization"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', `/v1/organization/${organization.id}`)
        await leftOrganization(navigate)
      }}
    >
      <p>
        All its keys, and the personal keys of its members in it, stop at once. Its members leave it, its
        credits are lost, and its datasets become the operator’s. This cannot be undone.
      </p>
      <TypedConfirmation label="Type the name of the organization to confirm" text={organization.name} />
    </ActionDialog>
  )
}
