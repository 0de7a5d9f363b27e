import { useQueryClient } from '@tanstack/react-query'
import { ADD_ONS } from '@wayleave/contract/add-ons'
import type { AdminOrganization } from '@wayleave/contract/records'
import { useState } from 'react'
import { AddOnsField } from '../access/add-ons-field.tsx'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import { count } from '../words.ts'

interface OrganizationDialogProps {
  organization: AdminOrganization
  onClose: () => void
}

export function AddOnsDialog({ organization, onClose }: OrganizationDialogProps) {
  const queries = useQueryClient()
  const [addOns, setAddOns] = useState(organization.addOns)
  return (
    <ActionDialog
      title={`Add-ons of ${organization.name}`}
      action="Save the add-ons"
      onClose={onClose}
      onAction={async () => {
        await call('PATCH', `/v1/admin/organizations/${organization.id}`, { addOns })
        await queries.invalidateQueries()
      }}
    >
      <p className="soft">Changes apply from the next request.</p>
      <AddOnsField offered={ADD_ONS} chosen={addOns} onChange={setAddOns} />
    </ActionDialog>
  )
}

export function CreditsDialog({ organization, onClose }: OrganizationDialogProps) {
  const queries = useQueryClient()
  const [way, setWay] = useState<'add' | 'set'>('add')
  const [amount, setAmount] = useState('100')
  return (
    <ActionDialog
      title={`Credits of ${organization.name}`}
      action={way === 'add' ? 'Add the credits' : 'Set the balance'}
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/admin/organizations/${organization.id}/credits`, { [way]: Number(amount) })
        await queries.invalidateQueries()
      }}
    >
      <p>
        The balance is {count(organization.credits.balance)}. The change is recorded in the organization’s
        ledger.
      </p>
      <Field label="What to do">
        {(props) => (
          <select {...props} value={way} onChange={(event) => setWay(event.target.value as 'add' | 'set')}>
            <option value="add">Add to the balance</option>
            <option value="set">Set the balance</option>
          </select>
        )}
      </Field>
      <Field label="Credits">
        {(props) => (
          <input
            {...props}
            type="number"
            required
            min={way === 'add' ? 1 : 0}
            step="1"
            value={amount}
            onChange={(event) => setAmount(event.target.value)}
          />
        )}
      </Field>
    </ActionDialog>
  )
}
