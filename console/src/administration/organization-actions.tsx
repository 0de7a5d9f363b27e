import { useQueryClient } from '@tanstack/react-query'
import type { AdminOrganization } from '@wayleave/contract/records'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { NameField } from '../components/form/name-field.tsx'
import { DeleteOrganizationDialog } from '../organization/delete-organization-dialog.tsx'
import { plural } from '../words.ts'
import { AddOnsDialog, CreditsDialog } from './organization-dialogs.tsx'
import { ReasonField } from './reason-field.tsx'

type Action = 'add-ons' | 'credits' | 'rename' | 'suspend' | 'resume' | 'delete'

/** The buttons for everything that can be done to an organization, and their dialogs. */
export function OrganizationActions({ organization }: { organization: AdminOrganization }) {
  const [open, setOpen] = useState<Action | null>(null)
  const props = { organization, onClose: () => setOpen(null) }
  const button = (action: Action, label: string, style = '') => (
    <button type="button" className={`button ${style}`} onClick={() => setOpen(action)}>
      {label}
    </button>
  )
  return (
    <div className="row">
      {button('add-ons', 'Add-ons')}
      {button('credits', 'Credits')}
      {button('rename', 'Rename')}
      {organization.suspendedAt ? button('resume', 'Resume') : button('suspend', 'Suspend')}
      {button('delete', 'Delete', 'danger')}
      {open === 'add-ons' && <AddOnsDialog {...props} />}
      {open === 'credits' && <CreditsDialog {...props} />}
      {open === 'rename' && <RenameDialog {...props} />}
      {open === 'suspend' && <SuspendDialog {...props} />}
      {open === 'resume' && <ResumeDialog {...props} />}
      {open === 'delete' && <DeleteDialog {...props} />}
    </div>
  )
}

interface DialogProps {
  organization: AdminOrganization
  onClose: () => void
}

function useRefresh() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['admin'] })
}

function RenameDialog({ organization, onClose }: DialogProps) {
  const refresh = useRefresh()
  const [name, setName] = useState(organization.name)
  return (
    <ActionDialog
      title={`Rename ${organization.name}`}
      action="Rename"
      fields={['/name']}
      onClose={onClose}
      onAction={async () => {
        await call('PATCH', `/v1/admin/organizations/${organization.id}`, { name })
        await refresh()
      }}
    >
      {(error) => <NameField name={name} onChange={setName} error={error} />}
    </ActionDialog>
  )
}

function SuspendDialog({ organization, onClose }: DialogProps) {
  const refresh = useRefresh()
  const [reason, setReason] = useState('')
  return (
    <ActionDialog
      title={`Suspend ${organization.name}?`}
      action="Suspend the organization"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/admin/organizations/${organization.id}/suspend`, { reason })
        await refresh()
      }}
    >
      <p>
        Its keys and the personal keys of its members are refused at once until you resume it. Members can
        still sign in, and see that it is suspended.
      </p>
      <ReasonField reason={reason} onChange={setReason} />
    </ActionDialog>
  )
}

function ResumeDialog({ organization, onClose }: DialogProps) {
  const refresh = useRefresh()
  return (
    <ActionDialog
      title={`Resume ${organization.name}?`}
      action="Resume the organization"
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/admin/organizations/${organization.id}/resume`)
        await refresh()
      }}
    >
      <p>Suspended: {organization.suspendReason}</p>
      <p>Its keys work again at once.</p>
    </ActionDialog>
  )
}

function DeleteDialog({ organization, onClose }: DialogProps) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  return (
    <DeleteOrganizationDialog
      name={organization.name}
      path={`/v1/admin/organizations/${organization.id}`}
      onClose={onClose}
      onDeleted={async () => {
        navigate('/administration/organizations')
        await refresh()
      }}
    >
      <p>
        It has {plural(organization.members, 'member')}. The ledger and the events stay, without its name.
      </p>
    </DeleteOrganizationDialog>
  )
}
